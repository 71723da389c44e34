"""An agent of google-adk that hands its user's question to the research team of `agentctl serve` as its remote agent, over A2A. The
model of the agent is a script: it transfers to the remote agent, whatever it is asked. Ends the program with words when a check does
not hold."""

import asyncio
import os
import sys
import warnings

warnings.simplefilter("ignore")
import httpx  # noqa: E402
from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent  # noqa: E402
from google.adk.models import BaseLlm, LlmResponse  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "serve"))
from server import TOKEN, Server  # noqa: E402

SETTINGS = '[serve]\npacks = ["research"]\n'


class Scripted(BaseLlm):
    """Transfers to the remote agent."""

    async def generate_content_async(self, request, stream=False):
        call = types.FunctionCall(name="transfer_to_agent", args={"agent_name": "research_team"})
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))


async def asked(runner, session, text):
    """What the agents said, each with its name."""
    message = types.Content(role="user", parts=[types.Part(text=text)])
    said = []
    async for event in runner.run_async(user_id="ann", session_id=session.id, new_message=message):
        for part in (event.content.parts if event.content else None) or []:
            if part.text:
                said.append((event.author, part.text))
    return said


async def main(binary):
    with Server(binary, SETTINGS) as server:
        http = httpx.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)
        card = f"{server.url}/agents/research/.well-known/agent-card.json"
        team = RemoteA2aAgent(name="research_team", description="Researches questions.", agent_card=card, httpx_client=http)
        root = LlmAgent(name="desk", model=Scripted(model="scripted"), instruction="Hand questions on.", sub_agents=[team])
        runner = InMemoryRunner(agent=root, app_name="desk")
        session = await runner.session_service.create_session(app_name="desk", user_id="ann")
        said = await asked(runner, session, "How long is the heating network of Norrfeld?")
        of_team = "\n".join(text for author, text in said if author == "research_team")
        if "148 kilometres" not in of_team:
            raise SystemExit(f"FAILED: google-adk: the remote agent's report is the answer\n{said}")
        print("ok  google-adk: the remote agent's report is the answer")


asyncio.run(main(sys.argv[1]))
