import { orThrow } from '../../../../src/client/index.js';
import { serverAddress } from '../../addresses.js';
import { command, type Invocation, type OptionValues, option } from '../../command-line/command.js';
import { jobDiffText } from '../../output/job-diff.js';
import { placementFailures } from '../../output/placement-failures.js';
import { coloursFor } from '../../output/terminal-text.js';
import { Stopped } from '../../stopped.js';
import { print } from '../print.js';
import { inThe } from './job-commands.js';
import { jobFileOptions, jobFrom } from './job-file.js';

/** Exit codes of Nomad's `job plan`, which scripts expect. */
const nothingChanges = 0;
const somethingChanges = 1;
const failed = 255;

const planOptions = {
  ...jobFileOptions,
  'no-diff': option.flag('show only the changes of allocations'),
  'policy-override': option.flag('override the policies that allow it'),
  'preserve-counts': option.flag('keep the counts of a job that exists'),
  'preserve-resources': option.flag('keep the resources of a job that exists'),
} as const;

type PlanOptions = OptionValues<typeof planOptions>;

/** `signalbox job plan FILE`: what registering the file would do. Exit code 0: the job is unchanged; 1: it would change; 255: failure. */
export const plan = command({
  usage: 'job plan FILE',
  summary: 'show what registering a job file would change; exit code 0: nothing, 1: something, 255: failure',
  options: planOptions,
  run: async (invocation) => {
    try {
      return await planned(invocation, invocation.options);
    } catch (error) {
      if (error instanceof Stopped && error.exitCode !== 1) throw error;
      throw new Stopped(error instanceof Error ? error.message : 'the job cannot be planned', failed);
    }
  },
});

async function planned(invocation: Invocation, options: PlanOptions): Promise<number> {
  const { parameters, terminal, box, inNamespace } = invocation;
  const [path = ''] = parameters;
  const { job } = await jobFrom(path, options, terminal);
  const document = inThe(inNamespace.namespace, job);
  // The exit code needs the diff, whether or not it is shown.
  const answer = await orThrow(
    box.jobs.plan(String(document.ID ?? ''), document, {
      ...inNamespace,
      diff: true,
      policyOverride: options['policy-override'],
      preserveCounts: options['preserve-counts'],
      preserveResources: options['preserve-resources'],
    }),
  );
  const unchanged = answer.diff?.Type === 'None';
  const shown = options['no-diff'] ? { ...answer, diff: null } : answer;
  print(invocation, shown, ({ diff, annotations, failedPlacements, warnings, nextPeriodicLaunch, jobModifyIndex }) =>
    [
      diff === null ? '' : jobDiffText(diff, coloursFor(terminal.colours)),
      effectText(unchanged, annotations?.DesiredTGUpdates ?? {}),
      placementFailures(failedPlacements ?? {}, document),
      nextPeriodicLaunch === null ? '' : `next launch: ${nextPeriodicLaunch}\n`,
      warnings === '' ? '' : `${warnings}\n`,
      `to apply this plan: ${applyingLine(jobModifyIndex, path, { ...options, ...inNamespace })}\n`,
    ]
      .filter((part) => part !== '')
      .join('\n'),
  );
  return unchanged ? nothingChanges : somethingChanges;
}

/** Counts of an unchanged system job are not shown: its `Place` includes existing allocations. */
function effectText(unchanged: boolean, updates: Readonly<Record<string, object>>): string {
  if (unchanged) return 'no changes\n';
  const groups = Object.entries(updates).flatMap(([group, counts]) => {
    const changes = Object.entries(counts).filter(([kind, count]) => kind !== 'Ignore' && count > 0);
    const text = changes.map(([kind, count]) => `${count} ${words(kind)}`).join(', ');
    return changes.length === 0 ? [] : [`group "${group}": ${text}\n`];
  });
  return groups.length === 0 ? 'no allocations change\n' : groups.join('');
}

type Repeated = Omit<PlanOptions, 'no-diff'> & { readonly namespace?: string; readonly address?: string };

/** The command that applies the plan: with all relevant options, quoted for a shell. */
function applyingLine(index: number, path: string, options: Repeated): string {
  const flags = ['hcl1', 'policy-override', 'preserve-counts', 'preserve-resources'] as const;
  return shellLine([
    'signalbox',
    'job',
    'run',
    '-check-index',
    String(index),
    ...(options.address === undefined ? [] : valued('address', withoutUser(options.address))),
    ...(options.namespace === undefined ? [] : valued('namespace', options.namespace)),
    ...options['var-file'].flatMap((file) => valued('var-file', file)),
    ...options.var.flatMap((value) => valued('var', value)),
    ...(options['hcl2-strict'] === undefined ? [] : [`-hcl2-strict=${options['hcl2-strict']}`]),
    ...flags.filter((name) => options[name]).map((name) => `-${name}`),
    ...(path.startsWith('-') && path !== '-' ? ['--', path] : [path]),
  ]);
}

/** Credentials in an address are neither sent nor printed. */
function withoutUser(address: string): string {
  const server = serverAddress(address);
  return 'url' in server ? server.url : address;
}

/** `-var 'a=b'`; a value that looks like an option is joined to its name. */
function valued(name: string, value: string): readonly string[] {
  return value.startsWith('-') ? [`-${name}=${value}`] : [`-${name}`, value];
}

/** `InPlaceUpdate` as `in place update`. */
function words(kind: string): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim();
}

/** Words that need no quotes in a POSIX shell; a leading tilde and an assignment-like first word are quoted, too. */
const plainWord = /^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=-]*$/;

/** A word quoted for a POSIX shell. NUL bytes, which arguments cannot contain, are left out. */
export function shellWord(word: string): string {
  const passed = word.replaceAll('\0', '');
  return plainWord.test(passed) ? passed : `'${passed.replaceAll("'", `'\\''`)}'`;
}

/** Words as one shell command line. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}
