import {
  anyObject,
  count,
  flag,
  integer,
  type JsonSchema,
  objectSchema,
  orNull,
  strings,
  text,
} from './json-schema.js';

const objects: JsonSchema = { type: 'array', items: anyObject };
const health = objectSchema({ ok: flag, message: text }, ['ok', 'message']);

/** What reads carry in headers and register-shaped answers in the body. */
const metadata = { Index: count, LastContact: integer, KnownLeader: flag, NextToken: text };

/** The documents of the server, its nodes and its settings, by the names that the interface gives them. */
export const systemSchemas: Readonly<Record<string, JsonSchema>> = {
  SchedulerConfigurationAnswer: objectSchema({ SchedulerConfig: anyObject, ...metadata }, ['SchedulerConfig']),
  UpdatedConfiguration: objectSchema({ Updated: flag, Index: count }, ['Updated', 'Index']),
  Health: health,
  AgentHealth: objectSchema({ server: health, client: health }),
  AgentSelf: objectSchema({ config: anyObject, member: anyObject, stats: anyObject }, ['config', 'member', 'stats']),
  AgentMembers: objectSchema(
    { ServerName: text, ServerRegion: text, ServerDC: text, Members: { type: 'array', items: anyObject } },
    ['ServerName', 'Members'],
  ),
  Metrics: objectSchema({ Timestamp: text, Gauges: objects, Counters: objects, Samples: objects }, [
    'Timestamp',
    'Gauges',
  ]),
  StoreStatus: objectSchema(
    {
      Index: count,
      Figures: {
        type: 'array',
        items: objectSchema({ Name: text, Unit: text, Labels: anyObject, Value: { type: 'number' } }, [
          'Name',
          'Unit',
          'Labels',
          'Value',
        ]),
      },
      Notes: { type: 'array', items: text },
    },
    ['Index', 'Figures', 'Notes'],
  ),
  Address: text,
  RaftConfiguration: objectSchema(
    {
      Index: count,
      Servers: {
        type: 'array',
        items: objectSchema({ ID: text, Node: text, Address: text, Leader: flag, Voter: flag, RaftProtocol: text }, [
          'ID',
          'Node',
          'Address',
          'Leader',
          'Voter',
          'RaftProtocol',
        ]),
      },
    },
    ['Index', 'Servers'],
  ),
  Addresses: strings,
  RegionNames: strings,
  EvaluatedNode: objectSchema(
    {
      EvalIDs: orNull(strings),
      EvalCreateIndex: count,
      NodeModifyIndex: count,
      Index: count,
      SchedulingEligibility: text,
      NumNodes: count,
      LeaderRPCAddr: text,
      Servers: { type: 'array', items: anyObject },
    },
    ['Index'],
  ),
  ChangedNode: objectSchema(
    { EvalIDs: orNull(strings), EvalCreateIndex: count, NodeModifyIndex: count, Index: count },
    ['Index'],
  ),
  NodePool: text,
  HostUsage: objectSchema({ Memory: anyObject, Uptime: count, Timestamp: count }, ['Memory', 'Uptime', 'Timestamp']),
};
