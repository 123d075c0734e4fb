"""The legacy Python client against `lamina mcp`, `POST /mcp` and the Unix socket: lists, an append, a mistake."""

import asyncio
import os
import sys
import tempfile

import httpx
import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def speak(read, write):
    async with ClientSession(read, write) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert "memory_append" in tools, tools
        result = await session.call_tool("memory_append", {"text": "Acme moved to 200 seats."})
        assert not result.isError, result
        jsonschema.validate(result.structuredContent, tools["memory_append"].outputSchema)
        citation = result.structuredContent["citation"]
        assert citation in result.content[0].text
        why = await session.call_tool("memory_why", {"id": citation})
        assert "200 seats" in why.content[0].text, why
        jsonschema.validate(why.structuredContent, tools["memory_why"].outputSchema)
        mistake = await session.call_tool("memory_append", {"txt": "x"})
        assert mistake.isError and "txt" in mistake.content[0].text, mistake


def over(socket):
    """Makes clients of HTTP that speak over a Unix socket."""

    def factory(headers=None, timeout=None, auth=None):
        transport = httpx.AsyncHTTPTransport(uds=socket)
        return httpx.AsyncClient(transport=transport, headers=headers, timeout=timeout, auth=auth)

    return factory


async def main(url, socket):
    with tempfile.TemporaryDirectory() as directory:
        command = [os.environ["LAMINA_BIN"], "mcp", "--embedded", "--data", f"{directory}/data"]
        server = StdioServerParameters(command=command[0], args=command[1:])
        async with stdio_client(server) as (read, write):
            await speak(read, write)
    async with streamablehttp_client(f"{url}/mcp?project=legacy") as (read, write, _):
        await speak(read, write)
    way = streamablehttp_client("http://localhost/mcp?project=socket", httpx_client_factory=over(socket))
    async with way as (read, write, _):
        await speak(read, write)
    print("legacy client: ok")


asyncio.run(main(sys.argv[1], sys.argv[2]))
