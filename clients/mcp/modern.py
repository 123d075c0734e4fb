"""The dual-era Python client against `lamina mcp`: it negotiates 2026-07-28, lists and appends."""

import asyncio
import os
import tempfile

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main():
    with tempfile.TemporaryDirectory() as directory:
        arguments = ["mcp", "--embedded", "--data", f"{directory}/data"]
        server = StdioServerParameters(command=os.environ["LAMINA_BIN"], args=arguments)
        async with Client(stdio_client(server)) as client:
            tools = await client.list_tools()
            assert any(tool.name == "memory_append" for tool in tools.tools), tools
            result = await client.call_tool("memory_append", {"text": "Acme moved to 200 seats."})
            assert not result.is_error and result.structured_content["citation"], result
            print("modern client: ok,", client.protocol_version)


asyncio.run(main())
