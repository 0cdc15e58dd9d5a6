import type { ResultAsync } from 'neverthrow';
import { orThrow } from '../../../../src/client/index.js';
import type { Deployment } from '../../../../src/scheduler/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import { deploymentText } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { onlyMatch } from '../find-record.js';
import { followWrite } from '../follow-write.js';
import { deploymentsText } from '../jobs/job-part-commands.js';
import { print } from '../print.js';
import { followDeployment } from './follow-deployment.js';

const status = command({
  usage: 'deployment status [DEPLOYMENT]',
  summary: 'list the deployments, or show one with the state of its groups',
  options: {
    monitor: option.flag('show the progress until the deployment ends; exit code 1 if it fails'),
  },
  run: async (invocation, prefix) => {
    if (invocation.options.monitor) return monitored(invocation, prefix);
    if (prefix !== undefined) return print(invocation, await deploymentOf(invocation, prefix), deploymentText);
    const deployments = await allOf(invocation);
    return print(invocation, deployments, deploymentsText);
  },
});

async function monitored(invocation: Invocation, prefix: string | undefined): Promise<number> {
  if (prefix === undefined) throw new Stopped('--monitor follows one DEPLOYMENT', 2);
  const { ID } = await deploymentOf(invocation, prefix);
  const { code, deployment } = await followDeployment(invocation, ID);
  if (invocation.json) print(invocation, deployment, () => '');
  return code;
}

const promote = command({
  usage: 'deployment promote DEPLOYMENT',
  summary: 'promote the canaries of a deployment',
  options: { group: option.list('GROUP', 'only this group, may be repeated') },
  run: (invocation, deployment = '') => {
    const { group: groups } = invocation.options;
    const promoted = groups.length === 0 ? { all: true } : { groups };
    return followed(invocation, deployment, (ID) => invocation.box.deployments.promote(ID, promoted));
  },
});

const pause = command({
  usage: 'deployment pause DEPLOYMENT',
  summary: 'pause a deployment',
  run: (invocation, deployment = '') =>
    followed(invocation, deployment, (ID) => invocation.box.deployments.pause(ID, { pause: true })),
});

const resume = command({
  usage: 'deployment resume DEPLOYMENT',
  summary: 'resume a paused deployment',
  run: (invocation, deployment = '') =>
    followed(invocation, deployment, (ID) => invocation.box.deployments.pause(ID, { pause: false })),
});

const fail = command({
  usage: 'deployment fail DEPLOYMENT',
  summary: 'mark a deployment as failed; the job may revert to its last stable version',
  run: (invocation, deployment = '') => followed(invocation, deployment, (ID) => invocation.box.deployments.fail(ID)),
});

const unblock = command({
  usage: 'deployment unblock DEPLOYMENT',
  summary: 'unblock a deployment that waits for other regions',
  run: (invocation, deployment = '') =>
    followed(invocation, deployment, (ID) => invocation.box.deployments.unblock(ID)),
});

async function allOf({ box, inNamespace }: Invocation): Promise<readonly Deployment[]> {
  const { value } = await orThrow(box.deployments.list(inNamespace));
  return 'items' in value ? value.items : value;
}

async function deploymentOf(invocation: Invocation, prefix: string): Promise<Deployment> {
  const deployments = await allOf(invocation);
  const begins = deployments.filter(({ ID }) => ID.startsWith(prefix));
  return onlyMatch(begins, prefix, 'deployment');
}

/** The answer to a change of a deployment. */
type Change = ResultAsync<{ readonly evalId?: string }, { readonly type: string }>;

/** Changes the deployment with this prefix of its ID. */
async function followed(invocation: Invocation, prefix: string, change: (ID: string) => Change): Promise<number> {
  const { ID } = await deploymentOf(invocation, prefix);
  const answer = await orThrow(change(ID));
  const { evalId = '' } = answer;
  if (evalId === '' && !invocation.json) invocation.terminal.out('done\n');
  return followWrite(invocation, { ...answer, evalId }, { detached: false, done: 'done' });
}

export const deploymentCommands: readonly Command[] = [status, promote, pause, resume, fail, unblock];
