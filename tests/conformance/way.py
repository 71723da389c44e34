"""A network between two processes of a test."""

import os
import socket
import threading
import urllib.parse


class Way:
    """A way to an address over TCP that can be cut, as a network between two machines."""

    def __init__(self, address):
        url = urllib.parse.urlsplit(address)
        query = urllib.parse.parse_qs(url.query)
        folder = query.get("host", [None])[0]
        self.target = os.path.join(folder, f".s.PGSQL.{url.port or 5432}") if folder else (url.hostname, url.port or 5432)
        self.pairs, self.is_cut, self.lock = [], False, threading.Lock()
        self.flows = threading.Event()
        self.flows.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        user = url.username or "postgres"
        self.url = lambda name: f"postgres://{user}@127.0.0.1:{self.port}/{name}?sslmode=disable"

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            self.flows.wait()
            if self.is_cut:
                near.close()
                continue
            try:
                far = self.connect()
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    def connect(self):
        far = socket.socket(socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET)
        far.connect(self.target)
        return far

    def copy(self, one, other):
        try:
            while data := one.recv(65536):
                self.flows.wait()
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stall(self):
        """Nothing comes through and nobody is told, until it is mended."""
        self.flows.clear()

    def cut(self):
        """Every connection breaks, and no new one comes about."""
        self.is_cut = True
        with self.lock:
            for end in self.pairs:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.pairs = []

    def mend(self):
        self.is_cut = False
        self.flows.set()
