//! Taking connections: each is bounded in its head and in how long it may not read, those that have not shown who they are give way to
//! others, and at the end what was asked is answered first. What is answered is another's to say ([`Answers`]).

use super::guests::{Guest, Strangers};
use super::stall::Stalls;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Of connections, how many and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenLimits {
    /// Connections that have not shown who they are. The oldest gives way to a new one.
    pub strangers: usize,
    /// For that, from the connection's first moment on.
    pub token: Duration,
    /// For a request's head, from its first to its last byte; for a TLS handshake too.
    pub head: Duration,
    /// For a caller that does not read its answer.
    pub write: Duration,
    /// For answers that are not read when the server is stopped.
    pub drain: Duration,
    /// Who comes while the server ends is let in, to be told so; else there is nobody to connect to.
    pub late: bool,
}

/// Answers the requests of all connections.
pub trait Answers: Send + Sync + 'static {
    type Body: Body<Data = Bytes, Error = Infallible> + Send + 'static;

    /// `guest` is the connection: who has shown who they are is told to it.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        guest: Arc<Guest>,
    ) -> impl Future<Output = Response<Self::Body>> + Send;

    /// The server ends: returns when nothing is left to do but to write answers.
    fn finish(&self) -> impl Future<Output = ()> + Send;
}

/// A connection as it is spoken over: plain, or inside of TLS.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Makes of a connection the one that is spoken over.
pub trait Wires: Send + Sync + 'static {
    fn wire(&self, stream: TcpStream) -> impl Future<Output = io::Result<Box<dyn Wire>>> + Send;
}

/// As it comes.
pub struct Plain;

impl Wires for Plain {
    async fn wire(&self, stream: TcpStream) -> io::Result<Box<dyn Wire>> {
        Ok(Box::new(stream))
    }
}

/// Serves until `stop` is ready, and then until [`Answers::finish`] is and its answers are written.
pub async fn listen<A: Answers>(
    listener: TcpListener,
    wires: impl Wires,
    limits: ListenLimits,
    answers: Arc<A>,
    stop: impl Future<Output = ()>,
) {
    let wires = Arc::new(wires);
    let strangers = Arc::new(Strangers::new(limits.strangers));
    let mut connections = JoinSet::new();
    let (end, _) = watch::channel(0);
    let mut stop = std::pin::pin!(stop);
    let mut finish: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None;
    loop {
        let accepted = match &mut finish {
            None => tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut stop => {
                    // Who is between two requests is let go; who waits for an answer gets it first.
                    let _ = end.send(1);
                    let answers = Arc::clone(&answers);
                    let mut finishing: Pin<Box<dyn Future<Output = ()> + Send>> =
                        Box::pin(async move { answers.finish().await });
                    match limits.late {
                        true => finish = Some(finishing),
                        false => {
                            drop(listener);
                            finishing.as_mut().await;
                            break;
                        }
                    }
                    continue;
                }
            },
            Some(finishing) => tokio::select! {
                biased;
                () = finishing => break,
                accepted = listener.accept() => accepted,
            },
        };
        while connections.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            // This one went away, or there are too many files open: neither ends the server.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Small answers are not held back to be sent with later ones.
        let _ = stream.set_nodelay(true);
        let guest = Left(strangers.enter());
        let (wires, answers) = (Arc::clone(&wires), Arc::clone(&answers));
        let strangers = Arc::clone(&strangers);
        let ending = end.subscribe();
        connections.spawn(async move {
            let guest = guest;
            let served = async {
                let wired = tokio::time::timeout(limits.head, wires.wire(stream)).await;
                if let Ok(Ok(wire)) = wired {
                    speak(wire, limits, answers, (&strangers, &guest.0), ending).await;
                }
            };
            // From the first moment on, a handshake too: who never ends it takes no room.
            tokio::select! {
                () = strangers.hear(&guest.0, served) => {}
                () = guest.0.unwelcome(limits.token) => {}
            }
        });
        // Who came is heard before the next one can send it away.
        tokio::task::yield_now().await;
    }
    // Those that came late, too.
    let _ = end.send(2);
    let written = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(limits.drain, written).await;
    connections.shutdown().await;
}

async fn speak<A: Answers>(
    wire: Box<dyn Wire>,
    limits: ListenLimits,
    answers: Arc<A>,
    (strangers, guest): (&Arc<Strangers>, &Arc<Guest>),
    mut ending: watch::Receiver<u8>,
) {
    let io = TokioIo::new(Stalls::new(wire, limits.write));
    let service = service_fn(|request| {
        let (answers, guest) = (Arc::clone(&answers), Arc::clone(guest));
        let strangers = Arc::clone(strangers);
        async move {
            let answer = answers.answer(request, Arc::clone(&guest)).await;
            strangers.rest(&guest).await;
            Ok::<_, Infallible>(answer)
        }
    });
    // A caller that broke off or broke the rules has been answered, or is not there to be.
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(64)
        .max_buf_size(64 * 1024)
        .serve_connection(io, service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ending.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// However the connection ends, its place is free then.
struct Left(Arc<Guest>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.leave();
    }
}
