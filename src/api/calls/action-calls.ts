import { inNamespaceOf } from '../access.js';
import { computed } from '../answers.js';
import { socket, write } from '../call.js';
import { commandErrors, taskInQuery } from '../common-inputs.js';
import { inPath, inQuery } from '../inputs.js';
import { text } from '../text-codecs.js';

/** Actions that jobs declare for their tasks. */
export const actionCalls = {
  /** Runs an action of a job in one of its allocations, with its input and output. */
  runAction: socket({
    path: '/v1/job/{job_id}/action',
    access: inNamespaceOf('record', 'alloc-exec'),
    summary: 'Runs an action of a job: its input and output as messages of a WebSocket',
    args: ['jobId'],
    inputs: {
      jobId: inPath('job_id', text),
      allocationId: inQuery('allocID', text, 'The allocation to run it in', ['alloc_id']),
      task: taskInQuery,
      action: inQuery('action', text, 'Name of the action'),
      tty: inQuery('tty', text, 'Whether it runs in a terminal'),
    },
    errors: commandErrors,
    closeCodes: { command_failed: 1011 },
    answer: computed<unknown>('ExecFrame'),
  }),

  /** The actions of a job, in order of groups, tasks and definition. */
  actions: write({
    path: '/v1/job/{job_id}/actions',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-job'),
    summary: 'The actions of a job, in order of groups, tasks and definition',
    args: ['jobId'],
    inputs: { jobId: inPath('job_id', text) },
    errors: commandErrors,
    leaderHeaders: 'unknown',
    judgesWaiting: true,
    // Read from the job, but the interface sends no index header.
    answer: { ...computed<readonly JobAction[]>('JobActions'), indexOf: () => 0 },
  }),
} as const;

export interface JobAction {
  readonly Name: string;
  readonly Command: string;
  readonly Args: readonly string[] | null;
  readonly TaskName: string;
  readonly TaskGroupName: string;
}
