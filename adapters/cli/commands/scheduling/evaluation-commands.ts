import { orThrow } from '../../../../src/client/index.js';
import type { Evaluation } from '../../../../src/scheduler/index.js';
import { type Command, command, option } from '../../command-line/command.js';
import type { PlacedJob } from '../../output/placement-failures.js';
import { facts, short, tableOf } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { existing, onlyMatch, queryPrefix } from '../find-record.js';
import { numberOption, optional, yes } from '../option-values.js';
import { print } from '../print.js';
import { followToHealth, jobOf, remainder } from './follow-evaluation.js';

const status = command({
  usage: 'eval status [EVALUATION]',
  summary: 'list the evaluations, or show one with its placement failures',
  options: {
    job: option.text('JOB', 'only evaluations of this job'),
    monitor: option.flag('wait for the evaluation and its deployment, like job run'),
  },
  run: async (invocation, prefix) => {
    const { box, inNamespace, options } = invocation;
    if (options.monitor && (prefix === undefined || invocation.json)) {
      throw new Stopped('--monitor needs one EVALUATION and excludes --json', 2);
    }
    const ofJob = options.job === undefined ? {} : { job: options.job };
    const { value } = await orThrow(
      box.evaluations.list({ ...inNamespace, ...ofJob, ...(prefix && { prefix: queryPrefix(prefix) }) }),
    );
    if (prefix === undefined) return print(invocation, value.items, listText);
    const { ID } = onlyMatch(value.items, prefix, 'evaluation');
    if (options.monitor) return followToHealth(invocation, ID);
    const evaluation = await existing(box.evaluations.read(ID, inNamespace), `evaluation ${prefix}`);
    const job = await jobOf(invocation, evaluation);
    return print(invocation, evaluation, (read) => evaluationText(read, job));
  },
});

const list = command({
  usage: 'eval list',
  summary: 'list the evaluations',
  options: {
    job: option.text('JOB', 'only evaluations of this job'),
    status: option.text('STATUS', 'only evaluations with this status', [
      'pending',
      'blocked',
      'complete',
      'failed',
      'canceled',
    ]),
    filter: option.text('EXPRESSION', 'only matching evaluations'),
    'per-page': option.text('N', 'page size; the token of the next page is printed on the error stream'),
    'page-token': option.text('TOKEN', 'token of the page to show'),
  },
  run: async (invocation) => {
    const { box, inNamespace, options, terminal } = invocation;
    const { value } = await orThrow(
      box.evaluations.list({
        ...inNamespace,
        ...optional('job', options.job),
        ...optional('status', options.status),
        ...optional('filter', options.filter),
        ...optional('perPage', numberOption('per-page', options['per-page'])),
        ...optional('nextToken', options['page-token']),
      }),
    );
    if (value.nextToken !== '') terminal.error(`next page: --page-token ${value.nextToken}\n`);
    return print(invocation, value.items, listText);
  },
});

const remove = command({
  usage: 'eval delete [EVALUATIONS...]',
  summary: 'delete evaluations, by ID or filter; evaluations must be paused (operator scheduler set)',
  options: {
    filter: option.text('EXPRESSION', 'the matching evaluations of all namespaces'),
    ...yes,
  },
  run: async (invocation) => {
    const { box, inNamespace, options, parameters } = invocation;
    if ((parameters.length === 0) === (options.filter === undefined)) {
      throw new Stopped('name EVALUATIONS or give a --filter', 2);
    }
    const evalIds: string[] = [];
    for (const prefix of parameters) {
      const { value } = await orThrow(box.evaluations.list({ ...inNamespace, prefix: queryPrefix(prefix) }));
      evalIds.push(onlyMatch(value.items, prefix, 'evaluation').ID);
    }
    const wanted = options.filter === undefined ? { evalIds } : { filter: options.filter };
    const answer = await orThrow(box.evaluations.delete(wanted));
    return print(
      invocation,
      answer,
      ({ count }) => `${count} ${count === 1 ? 'evaluation is' : 'evaluations are'} deleted\n`,
    );
  },
});

/** A table of evaluations. */
export function listText(evaluations: readonly Evaluation[]): string {
  const rows = evaluations.map((evaluation) => [
    short(evaluation.ID),
    String(evaluation.Priority),
    evaluation.TriggeredBy,
    evaluation.JobID,
    evaluation.Status,
    `${Object.keys(evaluation.FailedTGAllocs ?? {}).length > 0}`,
  ]);
  return tableOf(['ID', 'Priority', 'Trigger', 'Job', 'Status', 'Failures'], rows, 'no evaluations');
}

function evaluationText(evaluation: Evaluation, job: PlacedJob | undefined): string {
  const head = facts({
    ID: evaluation.ID,
    Status: evaluation.Status,
    'Status description': evaluation.StatusDescription,
    Type: evaluation.Type,
    Trigger: evaluation.TriggeredBy,
    Job: evaluation.JobID,
    Namespace: evaluation.Namespace,
    Priority: evaluation.Priority,
    Node: evaluation.NodeID,
    Deployment: evaluation.DeploymentID,
    'Not before': evaluation.WaitUntil,
  });
  return head + remainder(evaluation, job);
}

export const evaluationCommands: readonly Command[] = [status, list, remove];
