import type { ClusterEvent } from '../../events/changes.js';
import type { StreamedEvents } from '../../operations/events/stream-events.js';
import type { Node } from '../../scheduler/node.js';
import type { SchedulerConfiguration } from '../../scheduler/scheduler-configuration.js';
import { byOperation, inArea, inNamespace, management } from '../access.js';
import { type AnswerForm, type Indexed, nothing, written } from '../answers.js';
import { readServer, stream, writeServer } from '../call.js';
import { inBody, inQueries, inQuery } from '../inputs.js';
import { jsonBoolean, jsonObject, jsonText, jsonUnsigned, member, namedSchema } from '../json-codecs.js';
import { nodeDocument } from '../node-documents.js';
import { signedInteger, unsigned } from '../text-codecs.js';

/** Conversions of stored records to the form of reads, by topic. */
const shownAs: Readonly<Record<string, (record: never) => unknown>> = {
  Node: (node: Node) => nodeDocument(node),
};

function shownEvent(event: ClusterEvent): ClusterEvent {
  const show = shownAs[event.Topic];
  const record = event.Payload[event.Topic];
  if (show === undefined || record === null || record === undefined) return event;
  return { ...event, Payload: { ...event.Payload, [event.Topic]: show(record as never) } };
}

/** A heartbeat has no batch. */
function shownBatch(batch: StreamedEvents | undefined): StreamedEvents | undefined {
  return batch === undefined || 'Missed' in batch ? batch : { ...batch, Events: batch.Events.map(shownEvent) };
}

/** Serialised events, so that several streams serialise the same event once. */
const printed = new WeakMap<ClusterEvent, string>();

function textOf(event: ClusterEvent): string {
  const known = printed.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify(shownEvent(event));
  printed.set(event, text);
  return text;
}

function batchText(batch: StreamedEvents | undefined): string | undefined {
  if (batch === undefined || 'Missed' in batch) return JSON.stringify(batch);
  return `{"Index":${batch.Index},"Events":[${batch.Events.map(textOf).join(',')}]}`;
}

const batches: AnswerForm<StreamedEvents, StreamedEvents> = {
  schema: namedSchema('EventBatch'),
  status: 200,
  toClient: (batch) => shownBatch(batch) as StreamedEvents,
  toWire: batchText,
  indexOf: () => undefined,
};

/** The event stream. */
export const clusterCalls = {
  /** The changes of jobs, evaluations, allocations, deployments, services and nodes, grouped by transaction. */
  events: stream({
    framing: 'lines',
    path: '/v1/event/stream',
    access: byOperation(inNamespace('read-job')),
    summary:
      'Streams the changes of jobs, evaluations, allocations, deployments, services and nodes, one transaction per line',
    inputs: {
      topics: inQueries('topic', 'A topic, or a topic and a key, as TOPIC:KEY; default: all topics'),
      index: inQuery('index', signedInteger('Unable to parse index'), 'The first index to send; 0: the oldest'),
    },
    errors: ['invalid_topic'],
    answer: batches,
  }),
} as const;

/** Maintenance. */
export const maintenanceCalls = {
  /** Removes all ended records, regardless of their age. */
  collectGarbage: writeServer({
    methods: ['PUT'],
    path: '/v1/system/gc',
    access: management,
    summary: 'Removes all ended records, regardless of their age',
    inputs: {},
    answer: nothing(200),
  }),

  /** Recomputes the summaries of all jobs. */
  reconcileSummaries: writeServer({
    methods: ['PUT'],
    path: '/v1/system/reconcile/summaries',
    access: management,
    summary: 'Recomputes the summaries of all jobs',
    inputs: {},
    answer: nothing(200),
  }),
} as const;

const metadata = { LastContact: 0, KnownLeader: true, NextToken: '' } as const;

/** The configuration; on the wire wrapped in an object. */
const configuration: AnswerForm<Indexed<SchedulerConfiguration>, Indexed<SchedulerConfiguration>> = {
  schema: namedSchema('SchedulerConfigurationAnswer'),
  status: 200,
  toClient: (answer) => answer,
  toWire: ({ index, value }) => JSON.stringify({ SchedulerConfig: value, Index: index, ...metadata }),
  indexOf: ({ index }) => index,
};

const preemption = {
  SystemSchedulerEnabled: member('SystemSchedulerEnabled', jsonBoolean),
  SysBatchSchedulerEnabled: member('SysBatchSchedulerEnabled', jsonBoolean),
  BatchSchedulerEnabled: member('BatchSchedulerEnabled', jsonBoolean),
  ServiceSchedulerEnabled: member('ServiceSchedulerEnabled', jsonBoolean),
} as const;

/** Scheduler configuration of the whole installation. */
export const schedulerCalls = {
  readConfiguration: readServer({
    path: '/v1/operator/scheduler/configuration',
    access: inArea('operator', 'read'),
    summary: 'Scheduler configuration of the whole installation',
    inputs: {},
    answer: configuration,
  }),

  /** Replaces the configuration; omitted members get their defaults. */
  setConfiguration: writeServer({
    path: '/v1/operator/scheduler/configuration',
    access: inArea('operator', 'write'),
    summary: 'Replaces the scheduler configuration; omitted members get their defaults',
    inputs: {
      checkIndex: inQuery(
        'cas',
        unsigned('Error parsing cas value'),
        'Only if the configuration has this modify index',
      ),
      SchedulerAlgorithm: inBody('SchedulerAlgorithm', jsonText),
      PreemptionConfig: inBody('PreemptionConfig', jsonObject(preemption)),
      MemoryOversubscriptionEnabled: inBody('MemoryOversubscriptionEnabled', jsonBoolean),
      RejectJobRegistration: inBody('RejectJobRegistration', jsonBoolean),
      PauseEvalBroker: inBody('PauseEvalBroker', jsonBoolean),
      NodeLimitForFeasibilityChecks: inBody('NodeLimitForFeasibilityChecks', jsonUnsigned),
    },
    errors: ['invalid_request'],
    answer: written<{ readonly updated: boolean; readonly index: number }>('UpdatedConfiguration', {
      updated: 'Updated',
      index: 'Index',
    }),
  }),
} as const;
