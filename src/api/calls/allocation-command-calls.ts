import type { AllocationUsage, Usage } from '../../agent/link/node-command.js';
import type { StoppedAllocation } from '../../operations/allocations/stop-allocation.js';

import { anyCaller, inNamespaceOf } from '../access.js';
import { type AnswerForm, computed, nothing, written } from '../answers.js';
import { socket, write, writeServer } from '../call.js';
import { allocationInPath, commandErrors, taskInQuery } from '../common-inputs.js';
import { inBody, inQuery, required } from '../inputs.js';
import { jsonBoolean, jsonName } from '../json-codecs.js';
import { boolean, text } from '../text-codecs.js';

/** The answer of commands: existing clients expect an index, which carries no information. */
const ordered: AnswerForm<void, void> = {
  ...computed<void>('Ordered', () => ({ Index: 0 })),
  toClient: () => undefined,
};

/** Commands for an allocation; most are executed by its node. */
export const allocationCommandCalls = {
  /** Stops an allocation; it is replaced. */
  stop: writeServer({
    path: '/v1/allocation/{allocation_id}/stop',
    access: inNamespaceOf('record', 'alloc-lifecycle'),
    summary: 'Stops an allocation; it is replaced if the job still needs it',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      noShutdownDelay: inQuery('no_shutdown_delay', boolean, 'End its tasks without shutdown delays'),
      reschedule: inQuery('reschedule', boolean, 'Count the replacement as a rescheduling'),
    },
    errors: commandErrors,
    answer: written<StoppedAllocation>('StoppedAllocation', { evalId: 'EvalID', index: 'Index' }),
  }),

  /** Restarts tasks of an allocation in place. */
  restart: write({
    path: '/v1/client/allocation/{allocation_id}/restart',
    access: inNamespaceOf('record', 'alloc-lifecycle'),
    summary: 'Restarts one task, all running tasks, or all tasks including ended ones',
    args: ['allocationId'],
    anyMethod: true,
    optionalBody: true,
    inputs: {
      allocationId: allocationInPath,
      task: inBody('TaskName', jsonName),
      all: inBody('AllTasks', jsonBoolean),
    },
    errors: commandErrors,
    answer: ordered,
  }),

  /** Sends a signal to tasks of an allocation. */
  signal: write({
    path: '/v1/client/allocation/{allocation_id}/signal',
    access: inNamespaceOf('record', 'alloc-lifecycle'),
    summary: 'Sends a signal to one task, or to all running tasks',
    args: ['allocationId', 'signal'],
    inputs: {
      allocationId: allocationInPath,
      signal: required(inBody('Signal', jsonName)),
      task: inBody('Task', jsonName),
      taskName: inBody('TaskName', jsonName),
    },
    errors: commandErrors,
    answer: ordered,
  }),

  /** Removes the folder of an ended allocation from its node, with the logs. */
  collect: writeServer({
    path: '/v1/client/allocation/{allocation_id}/gc',
    methods: ['PUT', 'POST', 'GET'],
    access: anyCaller,
    summary: 'Removes the folder of an ended allocation from its node, with the logs',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath },
    errors: commandErrors,
    // Clients of Nomad read a JSON body.
    answer: { ...nothing(200), schema: { type: 'object' }, toWire: () => '{}' },
  }),

  /** The current resource usage of an allocation's tasks. */
  stats: write({
    path: '/v1/client/allocation/{allocation_id}/stats',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-job'),
    summary: "The current resource usage of an allocation's tasks",
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath, task: taskInQuery },
    errors: commandErrors,
    answer: computed<AllocationUsage>('AllocationUsage', usageOnTheWire),
  }),

  /** The newest results of the checks of an allocation's services. */
  clientChecks: write({
    path: '/v1/client/allocation/{allocation_id}/checks',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-job'),
    summary: 'The newest results of the checks of an allocation, from its node',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath },
    errors: commandErrors,
    answer: computed<unknown>('CheckResults'),
  }),

  /** The newest results of the checks of an allocation's services. */
  checks: write({
    path: '/v1/allocation/{allocation_id}/checks',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-job'),
    summary: 'The newest results of the checks of an allocation',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath },
    errors: commandErrors,
    answer: computed<unknown>('CheckResults'),
  }),

  /** Runs a command in the context of a task, with its input and output. */
  exec: socket({
    path: '/v1/client/allocation/{allocation_id}/exec',
    access: inNamespaceOf('record', 'alloc-exec'),
    summary: 'Runs a command in the context of a task: its input and output as messages of a WebSocket',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      task: taskInQuery,
      command: inQuery('command', text, 'The command and its arguments: a JSON list of strings'),
      tty: inQuery('tty', text, 'Whether it runs in a terminal'),
    },
    errors: commandErrors,
    closeCodes: { command_failed: 1011 },
    answer: computed<unknown>('ExecFrame'),
  }),
} as const;

function usageOnTheWire({ tasks, at, megahertz = 0 }: AllocationUsage): unknown {
  const resourceUsage = (usage: Usage): unknown => usageDocument(usage, megahertz);
  const entries = Object.entries(tasks);
  const sum = (of: (usage: AllocationUsage['tasks'][string]) => number): number =>
    entries.reduce((total, [, usage]) => total + of(usage), 0);
  const timestamp = at * 1_000_000;
  return {
    ResourceUsage: resourceUsage({
      residentBytes: sum(({ residentBytes }) => residentBytes),
      userPercent: sum(({ userPercent }) => userPercent),
      systemPercent: sum(({ systemPercent }) => systemPercent),
    }),
    Tasks: Object.fromEntries(
      entries.map(([name, usage]) => [
        name,
        {
          ResourceUsage: resourceUsage(usage),
          Timestamp: timestamp,
          Pids: Object.fromEntries(usage.processes.map((process) => [String(process.pid), resourceUsage(process)])),
        },
      ]),
    ),
    Timestamp: timestamp,
  };
}

function usageDocument({ residentBytes, userPercent, systemPercent }: Usage, megahertz: number): unknown {
  return {
    MemoryStats: {
      RSS: residentBytes,
      Cache: 0,
      Swap: 0,
      MappedFile: 0,
      Usage: residentBytes,
      MaxUsage: 0,
      KernelUsage: 0,
      KernelMaxUsage: 0,
      Measured: ['RSS', 'Usage'],
    },
    CpuStats: {
      SystemMode: systemPercent,
      UserMode: userPercent,
      TotalTicks: ((userPercent + systemPercent) / 100) * megahertz,
      ThrottledPeriods: 0,
      ThrottledTime: 0,
      Percent: userPercent + systemPercent,
      Measured: ['System Mode', 'User Mode', 'Percent', 'Total Ticks'],
    },
    DeviceStats: [],
  };
}
