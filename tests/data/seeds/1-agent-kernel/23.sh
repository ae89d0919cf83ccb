   python -c "
   from structured_agents.kernel import AgentKernel
   from structured_agents.models.adapter import ModelAdapter
   from structured_agents.client.protocol import LLMClient
   from dataclasses import dataclass
   
   @dataclass
   class MockClient:
       model: str = 'test'
       async def chat_completion(self, **kwargs): pass
       async def close(self): pass
   
   @dataclass 
   class MockAdapter:
       format_messages = None
       format_tools = None
       grammar_builder = None
       grammar_config = None
       response_parser = None
   
   kernel = AgentKernel(client=MockClient(), adapter=MockAdapter())
   print('AgentKernel instantiated successfully')
   "
