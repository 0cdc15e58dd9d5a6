import { orThrow } from '../../../../src/client/index.js';
import type { Deployment } from '../../../../src/scheduler/index.js';
import { type Command, command, option } from '../../command-line/command.js';
import { allocationsText, deploymentText, short, tableOf } from '../../output/tables.js';
import { existing } from '../find-record.js';
import { checkWait, detach, detachOrWait, followWrite } from '../follow-write.js';
import { numberOption, optional } from '../option-values.js';
import { confirm, print } from '../print.js';
import { followToEnd, followToHealth } from '../scheduling/follow-evaluation.js';

const allocs = command({
  usage: 'job allocs JOB',
  summary: 'list the allocations of a job',
  options: { all: option.flag('include those of an earlier job with this ID') },
  run: async (invocation, jobId = '') => {
    const { box, inNamespace, options } = invocation;
    await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
    const read = box.jobs.allocations(jobId, { ...inNamespace, all: options.all });
    return print(invocation, await existing(read, `job ${jobId}`), allocationsText);
  },
});

const deployments = command({
  usage: 'job deployments JOB',
  summary: 'list the deployments of a job',
  options: {
    latest: option.flag('show only the newest, with the state of its groups'),
    all: option.flag('include those of an earlier job with this ID'),
  },
  run: async (invocation, jobId = '') => {
    const { box, inNamespace, options } = invocation;
    await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
    if (options.latest) {
      const latest = await existing(box.jobs.latestDeployment(jobId, inNamespace), `deployment of job ${jobId}`);
      return print(invocation, latest, deploymentText);
    }
    const read = box.jobs.deployments(jobId, { ...inNamespace, all: options.all });
    return print(invocation, await existing(read, `job ${jobId}`), deploymentsText);
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
  usage: 'job periodic force JOB',
  summary: 'launch a periodic job now, whether or not it is due',
  options: detachOrWait,
  run: async (invocation, job = '') => {
    const { box, inNamespace, options } = invocation;
    checkWait(options);
    const answer = await orThrow(box.jobs.forceLaunch(job, inNamespace));
    return followWrite(invocation, answer, {
      detached: options.detach,
      done: 'job launched',
      ...(options.wait ? { follow: followToEnd } : {}),
    });
  },
});

const promote = command({
  usage: 'job promote JOB',
  summary: "accept the canaries of a job's newest deployment",
  options: { ...detach, group: option.list('GROUP', 'only this group, may be repeated') },
  run: async (invocation, jobId = '') => {
    const { box, inNamespace, options } = invocation;
    const read = box.jobs.latestDeployment(jobId, inNamespace);
    const { ID } = await existing(read, `deployment of job ${jobId}`);
    const groups = options.group.length === 0 ? { all: true } : { groups: options.group };
    const { evalId = '', ...answer } = await orThrow(box.deployments.promote(ID, groups));
    const after = { detached: options.detach, done: 'canaries promoted', follow: followToHealth };
    return followWrite(invocation, { ...answer, evalId }, after);
  },
});

const tag = command({
  usage: 'job tag apply JOB NAME',
  summary: 'tag a version of a job: a tagged version is kept, and job revert accepts the tag',
  options: {
    version: option.text('N', 'the version (the newest)'),
    description: option.text('TEXT', 'description of the tag'),
  },
  run: async (invocation, jobId = '', name = '') => {
    const { box, inNamespace, options } = invocation;
    const version = numberOption('version', options.version);
    const wanted = version === undefined ? { latest: true } : { version };
    const order = { ...inNamespace, ...wanted, ...optional('description', options.description) };
    return confirm(invocation, box.jobs.tagVersion(jobId, name, order), `a version of ${jobId} has the tag ${name}`);
  },
});

const untag = command({
  usage: 'job tag unset JOB NAME',
  summary: 'remove a tag from a version',
  run: async (invocation, jobId = '', name = '') => {
    const order = invocation.box.jobs.untagVersion(jobId, name, invocation.inNamespace);
    return confirm(invocation, order, `no version of ${jobId} has the tag ${name}`);
  },
});

export const jobPartCommands: readonly Command[] = [allocs, deployments, force, promote, tag, untag];
