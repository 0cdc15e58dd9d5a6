import { orThrow } from '../../../src/client/index.js';
import type { Evaluation } from '../../../src/index.js';
import { type Command, command } from '../command-line/command.js';
import { facts, short, tableOf } from '../output/columns.js';
import { Stopped } from '../stopped.js';
import { followToHealth, remainder } from './follow-evaluation.js';
import { found, theOnly } from './found.js';
import { print } from './print.js';

const status = command({
  words: 'eval status',
  parameters: '[EVALUATION]',
  summary: 'the evaluations, or one with what it could not place',
  options: {
    job: { type: 'text', value: 'JOB', summary: 'only those of this job' },
    monitor: { type: 'flag', summary: 'wait until it has ended and its deployment is over, as job run does' },
  },
  run: async (invocation) => {
    const { box, inNamespace, options, parameters } = invocation;
    const [prefix] = parameters;
    if (options.monitor && (prefix === undefined || invocation.json)) {
      throw new Stopped('--monitor follows one EVALUATION, in text', 2);
    }
    const ofJob = options.job === undefined ? {} : { job: options.job };
    const { value } = await orThrow(box.evaluations.list({ ...inNamespace, ...ofJob, ...(prefix && { prefix }) }));
    if (prefix === undefined) return print(invocation, value.items, listText);
    const { ID } = theOnly(value.items, prefix, 'evaluation');
    if (options.monitor) return followToHealth(invocation, ID);
    const evaluation = await found(box.evaluations.read(ID, inNamespace), `evaluation ${prefix}`);
    return print(invocation, evaluation, evaluationText);
  },
});

function listText(evaluations: readonly Evaluation[]): string {
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

function evaluationText(evaluation: Evaluation): string {
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
  return head + remainder(evaluation);
}

export const evaluationCommands: readonly Command[] = [status];
