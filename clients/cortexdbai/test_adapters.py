"""The published client's adapters, with the frameworks they are made for."""

import unittest

from cortexdb import Cortex
from cortexdb.integrations import langchain, llamaindex
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.retrievers import BaseRetriever
from serving import Server


class Adapters(unittest.TestCase):
    """Every test has a scope of its own; the adapters forget whole scopes."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.client = Cortex(cls.server.url, actor="user:app")

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.stop()

    def everything(self, scope):
        return self.client.recall(scope, query="*")["context_block"]


class LangChain(Adapters):
    def test_a_history_keeps_recalls_and_clears(self):
        history = langchain.CortexDBChatMessageHistory(client=self.client, scope="user:history")
        history.add_messages(
            [
                HumanMessage("My sister Petra breeds alpacas near Graz."),
                AIMessage("How lovely! How many does she have?"),
            ]
        )
        self.assertEqual(history.messages, [], "nothing is recalled without a question")
        history.recall_query = "What does Petra breed?"
        self.assertEqual(len(history.messages), 1)
        self.assertIn("breeds alpacas near Graz", history.messages[0].content)
        history.clear()
        self.assertEqual(history.messages, [])
        self.assertNotIn("alpacas", self.everything("user:history"))

    def test_a_chain_has_a_memory_of_earlier_turns(self):
        def history_of(session_id):
            return langchain.CortexDBChatMessageHistory(
                client=self.client, scope=f"user:{session_id}", recall_query="Which harbour?"
            )

        def model(messages):
            said = [message.content for message in messages]
            return AIMessage("I know: " + " | ".join(said))

        chain = RunnableWithMessageHistory(RunnableLambda(model), history_of)
        config = {"configurable": {"session_id": "chain"}}
        chain.invoke([HumanMessage("The boat lies in the harbour of Lerwick.")], config)
        answer = chain.invoke([HumanMessage("Which harbour is the boat in?")], config)
        self.assertIn("harbour of Lerwick", answer.content)

    def test_a_retriever_gives_one_document(self):
        self.client.experience("user:docs", text="The archive moved to shelf nine.", wait="indexed")
        retriever = langchain.CortexDBRetriever(client=self.client, scope="user:docs")
        [document] = retriever.invoke("Where did the archive move?")
        self.assertIn("shelf nine", document.page_content)
        self.assertTrue(document.metadata["pack_id"].startswith("pack_"))

    def test_tools_store_search_and_forget(self):
        made = {"client": self.client, "scope": "user:tools"}
        store = langchain.CortexDBStoreTool(**made)
        search = langchain.CortexDBSearchTool(**made)
        forget = langchain.CortexDBForgetTool(**made)
        self.assertEqual(search.invoke({"query": "the boiler"}), "No relevant memories found.")
        self.assertIn("event_id: evt_", store.invoke({"content": "The boiler is from 1998."}))
        self.assertIn("from 1998", search.invoke({"query": "How old is the boiler?"}))
        said = forget.invoke({"query": "boiler", "reason": "it was replaced"})
        self.assertIn("audit_id: audit_", said)
        self.assertEqual(
            search.invoke({"query": "How old is the boiler?"}), "No relevant memories found."
        )


class LlamaIndex(Adapters):
    def test_a_buffer_puts_gets_and_resets(self):
        memory = llamaindex.CortexDBChatMemoryBuffer(
            client=self.client, scope="user:buffer", session_id="s-17"
        )
        memory.put(ChatMessage(role=MessageRole.USER, content="The vineyard faces south."))
        memory.put(ChatMessage(role=MessageRole.ASSISTANT, content="South is good for Riesling."))
        found = memory.get("Where does the vineyard face?")
        self.assertIn("The vineyard faces south.", found[0].content)
        self.assertEqual(found[0].role, MessageRole.USER)
        all_of_it = memory.get_all()
        roles = {
            words: next(message.role for message in all_of_it if words in message.content)
            for words in ("faces south", "Riesling")
        }
        self.assertEqual(
            roles, {"faces south": MessageRole.USER, "Riesling": MessageRole.ASSISTANT}
        )
        memory.reset()
        self.assertEqual(memory.get("Where does the vineyard face?"), [])

    def test_a_retriever_serves_a_query_engine(self):
        class Quoting(CustomQueryEngine):
            retriever: BaseRetriever

            def custom_query(self, query_str):
                return self.retriever.retrieve(query_str)[0].text

        self.client.experience("user:nodes", text="The ferry sails at six.", wait="indexed")
        retriever = llamaindex.CortexDBRetriever(client=self.client, scope="user:nodes")
        answer = Quoting(retriever=retriever).query("When does the ferry sail?")
        self.assertIn("sails at six", str(answer))


# The frameworks' part that both share is not a test of its own.
del Adapters

if __name__ == "__main__":
    unittest.main()
