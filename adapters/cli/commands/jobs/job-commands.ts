import { orThrow } from '../../../../src/client/index.js';
import type { Job, JobInput } from '../../../../src/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import { jobDiffText } from '../../output/job-diff.js';
import { jobStatusWord } from '../../output/job-status-word.js';
import { facts, inJson, inOneLine, tableOf, timeText } from '../../output/tables.js';
import { coloursFor } from '../../output/terminal-text.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { checkWait, checkWaitFor, detach, detachOrWait, followRegistration, followWrite } from '../follow-write.js';
import { numberOption, optional, pairs, yes } from '../option-values.js';
import { print } from '../print.js';
import { followToEnd } from '../scheduling/follow-evaluation.js';
import { jobFileOptions, jobFrom } from './job-file.js';
import { statusOfJob } from './status-of-job.js';

const status = command({
  usage: 'job status [JOB]',
  summary: 'list the jobs, or show one, by a prefix of its ID, with its groups, deployment and allocations',
  options: {
    'all-allocs': option.flag('include allocations of an earlier job with this ID'),
    evals: option.flag('include the evaluations of the job'),
  },
  run: async (invocation, jobId) => {
    if (jobId !== undefined) {
      const { 'all-allocs': all, evals } = invocation.options;
      return statusOfJob(invocation, jobId, { all, evals });
    }
    if (invocation.options['all-allocs'] || invocation.options.evals) {
      throw new Stopped('--all-allocs and --evals are for one JOB', 2);
    }
    const { value } = await orThrow(invocation.box.jobs.list(invocation.inNamespace));
    if (invocation.json) return print(invocation, value.items, () => '');
    const rows = value.items.map((job) => [
      job.ID,
      job.Periodic ? `${job.Type}/periodic` : job.ParameterizedJob ? `${job.Type}/parameterized` : job.Type,
      String(job.Priority),
      jobStatusWord(job),
      timeText(job.SubmitTime),
    ]);
    return print(invocation, value.items, () =>
      tableOf(['ID', 'Type', 'Priority', 'Status', 'Submitted'], rows, 'no jobs'),
    );
  },
});

const validate = command({
  usage: 'job validate FILE',
  summary: 'have the server check a job file',
  options: jobFileOptions,
  run: async (invocation, file = '') => {
    const { options, terminal, box, inNamespace } = invocation;
    const { job } = await jobFrom(file, options, terminal);
    const answer = await orThrow(box.jobs.validate(inThe(inNamespace.namespace, job)));
    if (!invocation.json && answer.warnings !== '') terminal.error(`${answer.warnings}\n`);
    if (!invocation.json && answer.error !== '') throw new Stopped(answer.error);
    print(invocation, answer, () => 'the job is valid\n');
    return answer.error === '' ? 0 : 1;
  },
});

const run = command({
  usage: 'job run FILE',
  summary: 'register a job file and wait for its placement and deployment; exit code 2 if it cannot be placed',
  options: {
    ...jobFileOptions,
    ...detachOrWait,
    'check-index': option.text('N', "register only if the job's modify index is N; 0: only if the job does not exist"),
    'eval-priority': option.text('N', 'priority of the evaluation, 1 to 100'),
    'preserve-counts': option.flag('keep the counts of an existing job'),
    'preserve-resources': option.flag('keep the resources of an existing job'),
    'policy-override': option.flag('override the policies that allow it'),
  },
  run: async (invocation, file = '') => {
    const { options, terminal, box, inNamespace } = invocation;
    const { job, submission } = await jobFrom(file, options, terminal);
    checkWaitFor(options, job);
    const document = inThe(inNamespace.namespace, job);
    const answer = await orThrow(
      box.jobs.register(document, {
        ...inNamespace,
        submission,
        preserveCounts: options['preserve-counts'],
        preserveResources: options['preserve-resources'],
        policyOverride: options['policy-override'],
        ...optional('enforceIndex', numberOption('check-index', options['check-index'])),
        ...optional('evalPriority', numberOption('eval-priority', options['eval-priority'])),
      }),
    );
    if (answer.warnings !== '') terminal.error(`${answer.warnings}\n`);
    const itsNamespace = { ...invocation, inNamespace: optional('namespace', document.Namespace ?? undefined) };
    const { detach: detached, wait } = options;
    return followRegistration(itsNamespace, answer, { detached, wait, done: 'job registered' });
  },
});

const stop = command({
  usage: 'job stop JOB',
  summary: 'stop a job',
  options: {
    ...detach,
    purge: option.flag('remove the job with all its records immediately'),
    'no-shutdown-delay': option.flag('stop the allocations without shutdown delays'),
    ...yes,
    'eval-priority': option.text('N', 'priority of the evaluation, 1 to 100'),
  },
  run: async (invocation, jobId = '') => {
    const { options, box, inNamespace } = invocation;
    await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
    const answer = await orThrow(
      box.jobs.stop(jobId, {
        ...inNamespace,
        purge: options.purge,
        noShutdownDelay: options['no-shutdown-delay'],
        ...optional('evalPriority', numberOption('eval-priority', options['eval-priority'])),
      }),
    );
    return followWrite(invocation, answer, { detached: options.detach, done: 'job stopped' });
  },
});

const dispatch = command({
  usage: 'job dispatch JOB [PAYLOAD]',
  summary: 'create an instance of a parameterized job; PAYLOAD is a file, or - for standard input',
  options: {
    ...detachOrWait,
    meta: option.list('KEY=VALUE', 'a meta value, may be repeated'),
    'idempotency-token': option.text('TOKEN', 'a repeated dispatch with the same token creates no second instance'),
    'id-prefix-template': option.text('TEXT', "template of the first part of the instance's ID"),
    priority: option.text('N', "the instance's priority instead of the job's"),
  },
  run: async (invocation, jobId = '', path) => {
    const { options, terminal, box, inNamespace } = invocation;
    checkWait(options);
    const payload = path === undefined ? undefined : await terminal.read(path);
    const answer = await orThrow(
      box.jobs.dispatch(jobId, {
        ...inNamespace,
        meta: pairs('meta', options.meta),
        ...optional('payload', payload === undefined ? undefined : Buffer.from(payload).toString('base64')),
        ...optional('idempotencyToken', options['idempotency-token']),
        ...optional('idPrefixTemplate', options['id-prefix-template']),
        ...optional('priority', numberOption('priority', options.priority)),
      }),
    );
    if (!invocation.json) terminal.out(`job ${inOneLine(answer.dispatchedJobId)}\n`);
    return followWrite(invocation, answer, {
      detached: options.detach,
      done: 'job dispatched',
      ...(options.wait ? { follow: followToEnd } : {}),
    });
  },
});

const scale = command({
  usage: 'job scale JOB GROUP COUNT',
  summary: 'change the count of a group',
  options: { ...detach, message: option.text('TEXT', 'a reason, kept with the scaling event') },
  run: async (invocation, jobId = '', group = '', text) => {
    const { options, box, inNamespace } = invocation;
    const count = numberOption('COUNT', text) ?? 0;
    // Servers require a reason.
    const request = { ...inNamespace, count, message: options.message ?? 'scaled from the command line' };
    const answer = await orThrow(box.jobs.scale(jobId, group, request));
    return followWrite(invocation, answer, { detached: options.detach, done: 'job scaled' });
  },
});

const history = command({
  usage: 'job history JOB',
  summary: 'list the versions of a job, newest first',
  options: { p: option.flag('include the differences between versions') },
  run: async (invocation, jobId = '') => {
    const { box, inNamespace, options, terminal } = invocation;
    const read = box.jobs.versions(jobId, { ...inNamespace, diffs: options.p });
    return print(invocation, await existing(read, `job ${jobId}`), ({ versions, diffs }) =>
      versions
        .map((job, at) => {
          const diff = diffs?.[at];
          return versionText(job) + (diff === undefined ? '' : jobDiffText(diff, coloursFor(terminal.colours)));
        })
        .join('\n'),
    );
  },
});

function versionText(job: Job): string {
  return facts({
    Version: job.Version,
    Stable: job.Stable,
    Submitted: timeText(job.SubmitTime),
    Tag: job.VersionTag?.Name,
  });
}

const revert = command({
  usage: 'job revert JOB VERSION',
  summary: 'register an earlier version again as a new version and wait like job run; VERSION is a number or a tag',
  options: {
    ...detachOrWait,
    'prior-version': option.text('N', 'only if this is the current version of the job'),
  },
  run: async (invocation, jobId = '', wanted = '') => {
    const { options, box, inNamespace } = invocation;
    checkWait(options);
    if (options.wait) checkWaitFor(options, await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`));
    const version = /^\d+$/.test(wanted) ? Number(wanted) : await taggedVersion(invocation, jobId, wanted);
    const prior = optional('enforcePriorVersion', numberOption('prior-version', options['prior-version']));
    const answer = await orThrow(box.jobs.revert(jobId, version, { ...inNamespace, ...prior }));
    return followRegistration(invocation, answer, {
      detached: options.detach,
      wait: options.wait,
      done: 'job reverted',
    });
  },
});

async function taggedVersion(
  { box, inNamespace }: Pick<Invocation, 'box' | 'inNamespace'>,
  jobId: string,
  tag: string,
) {
  const { versions } = await existing(box.jobs.versions(jobId, inNamespace), `job ${jobId}`);
  const version = versions.find(({ VersionTag }) => VersionTag?.Name === tag)?.Version;
  if (version === undefined) throw new Stopped(`no version of ${jobId} has the tag ${tag}`);
  return version;
}

const evaluate = command({
  usage: 'job eval JOB',
  summary: 'have the scheduler evaluate a job again',
  options: { ...detach, 'force-reschedule': option.flag('place failed allocations again at once') },
  run: async (invocation, job = '') => {
    const { options, box, inNamespace } = invocation;
    const request = { ...inNamespace, forceReschedule: options['force-reschedule'] };
    const answer = await orThrow(box.jobs.evaluate(job, request));
    return followWrite(invocation, answer, { detached: options.detach, done: 'evaluation created' });
  },
});

const inspect = command({
  usage: 'job inspect JOB',
  summary: 'print a job as JSON',
  options: { version: option.text('N', 'print this version') },
  run: async ({ options, terminal, box, inNamespace }, jobId = '') => {
    const version = numberOption('version', options.version);
    const job =
      version === undefined
        ? await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`)
        : (await existing(box.jobs.versions(jobId, inNamespace), `job ${jobId}`)).versions.find(
            (each) => each.Version === version,
          );
    if (job === undefined) throw new Stopped(`there is no version ${version} of ${jobId}`);
    terminal.out(`${inJson({ Job: job }, 2)}\n`);
    return 0;
  },
});

/** The job, in the namespace of the command line if given. */
export function inThe(namespace: string | undefined, job: unknown): JobInput {
  const document = job as JobInput;
  return namespace === undefined ? document : { ...document, Namespace: namespace };
}

export const jobCommands: readonly Command[] = [
  status,
  validate,
  run,
  stop,
  dispatch,
  scale,
  history,
  revert,
  evaluate,
  inspect,
];
