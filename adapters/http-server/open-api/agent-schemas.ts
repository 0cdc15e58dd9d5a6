import { anyObject, count, flag, type JsonSchema, number, objectSchema, orNull, strings, text } from './json-schema.js';

const listOfObjects: JsonSchema = { type: 'array', items: anyObject };
const variableReads: JsonSchema = {
  type: 'array',
  items: objectSchema({ path: text, namespace: text }, ['path']),
};

/** The documents that agents and servers exchange, by the names that the interface gives them. */
export const agentSchemas: Readonly<Record<string, JsonSchema>> = {
  AgentNode: objectSchema(
    { ID: text, Name: text, Datacenter: text, NodePool: text, NodeResources: anyObject, Drivers: anyObject },
    ['ID', 'Name', 'Datacenter', 'NodePool', 'NodeResources', 'ReservedResources', 'Drivers'],
  ),
  AgentProcess: objectSchema({ instance: text, folder: text, boot: text }, ['instance']),
  AgentRegistered: objectSchema({ index: count, heartbeatTtl: count }, ['index', 'heartbeatTtl']),
  AgentHeard: objectSchema({ heartbeatTtl: count }, ['heartbeatTtl']),
  AgentWork: objectSchema(
    {
      index: count,
      complete: flag,
      work: { type: 'array', items: objectSchema({ allocation: anyObject, job: anyObject }, ['allocation']) },
      gone: strings,
      collected: flag,
      now: number,
    },
    ['index', 'complete', 'work', 'gone'],
  ),
  AgentVariablesQuery: objectSchema(
    { allocationId: text, task: text, variables: variableReads, prefixes: variableReads, known: orNull(text) },
    ['allocationId', 'task', 'variables', 'prefixes', 'known'],
  ),
  AgentVariables: objectSchema(
    {
      version: text,
      items: { type: 'array', items: orNull(anyObject) },
      lists: { type: 'array', items: listOfObjects },
    },
    ['version', 'items', 'lists'],
  ),
  AgentReports: {
    type: 'array',
    items: objectSchema(
      {
        allocationId: text,
        clientStatus: { enum: ['pending', 'running', 'complete', 'failed'] },
        clientDescription: text,
        taskStates: anyObject,
        healthy: orNull(flag),
      },
      ['allocationId', 'clientStatus', 'clientDescription', 'taskStates'],
    ),
  },
  AgentReported: objectSchema({ index: count, unknown: strings }, ['index', 'unknown']),
  AgentFrame: { type: 'string', contentEncoding: 'binary' },
};
