import { type Command, command, option } from '../../command-line/command.js';
import { tableOf } from '../../output/tables.js';
import { numberOption, optional } from '../option-values.js';
import { printAnswer } from '../print.js';

const why = command({
  usage: 'job why JOB',
  summary: 'explain for each group what prevents nodes from taking one more allocation',
  run: async (invocation, jobId = '') =>
    printAnswer(invocation, invocation.box.jobs.placement(jobId, invocation.inNamespace), ({ groups }) =>
      groups
        .map(({ group, waiting, summary, nodes, examined }) => {
          const changes = (nodes[0]?.obstacles ?? []).flatMap((obstacle) =>
            obstacle.changes.map(({ of, subject, from, to }) => `  or change ${of} ${subject}: ${from} -> ${to}\n`),
          );
          return `group ${group}: ${waiting} waiting, ${examined} nodes examined\n  ${summary}\n${changes.join('')}`;
        })
        .join(''),
    ),
});

const schedule = command({
  usage: 'job schedule [JOB]',
  summary: 'list the next launches of periodic jobs, or of one, and what is surprising about their schedules',
  options: { n: option.text('N', 'launches of each job, 1 to 100 (3)') },
  run: async (invocation, jobId) => {
    const { options, inNamespace, box } = invocation;
    const wanted = { ...inNamespace, ...optional('jobId', jobId), launches: numberOption('-n', options.n) ?? 3 };
    return printAnswer(invocation, box.jobs.schedules(wanted), ({ schedules, isCut }) => {
      const rows = schedules.flatMap(({ jobId: id, timeZone, launches }) =>
        launches.map(({ wallTime, specs }) => [id, wallTime, timeZone, specs.join(', ')]),
      );
      const findings = schedules.flatMap(({ jobId: id, findings: found }) =>
        found.map(({ message }) => `${id}: ${message}\n`),
      );
      const rest = isCut ? 'only the first jobs are listed\n' : '';
      return `${tableOf(['Job', 'Launch', 'Zone', 'Cron'], rows, 'no launches')}${findings.join('')}${rest}`;
    });
  },
});

const runs = command({
  usage: 'job runs [JOB]',
  summary: 'list the runs of batch jobs that have ended, the latest first, also of jobs that were collected',
  options: { outcome: option.text('OUTCOME', 'only runs with this outcome, such as failed') },
  run: async (invocation, jobId) => {
    const { options, inNamespace, box } = invocation;
    const wanted = { ...inNamespace, ...optional('jobId', jobId), ...optional('outcome', options.outcome) };
    return printAnswer(
      invocation,
      box.jobs.runs(wanted).map(({ value }) => value),
      ({ items, nextToken }) => {
        const rows = items.map(({ jobId: id, outcome, startedAt = '', endedAt, failure }) => [
          id,
          outcome,
          startedAt,
          endedAt,
          failure?.message ?? '',
        ]);
        const rest = nextToken === '' ? '' : 'there are more: GET /v1/jobs/runs lists them in pages\n';
        return `${tableOf(['Job', 'Outcome', 'Started', 'Ended', 'Why'], rows, 'no ended runs')}${rest}`;
      },
    );
  },
});

const failures = command({
  usage: 'job failures [JOB]',
  summary: 'count the failed runs of the last day by their cause, those of functions included',
  run: async (invocation, jobId) => {
    const wanted = { ...invocation.inNamespace, ...optional('jobId', jobId) };
    return printAnswer(invocation, invocation.box.jobs.failures(wanted), ({ causes, isCut }) => {
      const rows = causes.map(({ count, outcome, exitCode, cause, lastAt, jobs }) => [
        String(count),
        exitCode === undefined ? outcome : `${outcome}, exit code ${exitCode}`,
        jobs.map((job) => job.jobId).join(', '),
        lastAt,
        cause,
      ]);
      const rest = isCut ? 'older failures or further causes are left out\n' : '';
      return `${tableOf(['Count', 'Outcome', 'Jobs', 'Last', 'Cause'], rows, 'no failures')}${rest}`;
    });
  },
});

/** Commands that say why jobs wait, when they run next, and how they ended. */
export const outlookCommands: readonly Command[] = [why, schedule, runs, failures];
