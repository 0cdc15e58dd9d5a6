import type { SchedulerConfiguration } from '../../scheduler/scheduler-configuration.js';
import { inArea } from '../access.js';
import { type AnswerForm, type Indexed, written } from '../answers.js';
import { readServer, writeServer } from '../call.js';
import { inBody, inQuery } from '../inputs.js';
import { jsonBoolean, jsonObject, jsonText, jsonUnsigned, member, namedSchema } from '../json-codecs.js';
import { unsigned } from '../text-codecs.js';

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
