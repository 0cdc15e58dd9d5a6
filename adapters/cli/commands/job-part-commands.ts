import { orThrow } from '../../../src/client/index.js';
import type { Deployment } from '../../../src/index.js';
import { type Command, command } from '../command-line/command.js';
import { short, tableOf } from '../output/columns.js';
import { allocationsText, deploymentText } from '../output/tables.js';
import { afterwards, detach } from './afterwards.js';
import { found } from './found.js';
import { print } from './print.js';

const allocs = command({
  words: 'job allocs',
  parameters: 'JOB',
  summary: 'the allocations of a job',
  options: { all: { type: 'flag', summary: 'also those of an earlier job of this ID' } },
  run: async (invocation) => {
    const { box, inNamespace, options, parameters } = invocation;
    const [jobId = ''] = parameters;
    await found(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
    const read = box.jobs.allocations(jobId, { ...inNamespace, all: options.all });
    return print(invocation, await found(read, `job ${jobId}`), allocationsText);
  },
});

const deployments = command({
  words: 'job deployments',
  parameters: 'JOB',
  summary: 'the deployments of a job',
  options: {
    latest: { type: 'flag', summary: 'only the newest, with the state of its groups' },
    all: { type: 'flag', summary: 'also those of an earlier job of this ID' },
  },
  run: async (invocation) => {
    const { box, inNamespace, options, parameters } = invocation;
    const [jobId = ''] = parameters;
    await found(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
    if (options.latest) {
      const latest = await found(box.jobs.latestDeployment(jobId, inNamespace), `deployment of job ${jobId}`);
      return print(invocation, latest, deploymentText);
    }
    const read = box.jobs.deployments(jobId, { ...inNamespace, all: options.all });
    return print(invocation, await found(read, `job ${jobId}`), deploymentsText);
  },
});

/** A table of deployments. */
export function deploymentsText(items: readonly Deployment[]): string {
  const rows = items.map(({ ID, JobID, JobVersion, Status, StatusDescription }) => [
    short(ID),
    JobID,
    String(JobVersion),
    Status,
    StatusDescription,
  ]);
  return tableOf(['ID', 'Job', 'Version', 'Status', 'Description'], rows, 'no deployments');
}

const force = command({
  words: 'job periodic force',
  parameters: 'JOB',
  summary: 'launch a periodic job now, whether or not it is due',
  options: detach,
  run: async (invocation) => {
    const { box, inNamespace, options, parameters } = invocation;
    const answer = await orThrow(box.jobs.forceLaunch(parameters[0] ?? '', inNamespace));
    return afterwards(invocation, answer, { detached: options.detach, done: 'job launched' });
  },
});

export const jobPartCommands: readonly Command[] = [allocs, deployments, force];
