import { orThrow } from '../../../../src/client/index.js';
import { command, type Invocation } from '../../command-line/command.js';
import { coloursFor } from '../../output/colours.js';
import { jobDiffText } from '../../output/job-diff.js';
import { placementFailures } from '../../output/placement-failures.js';
import { Stopped } from '../../stopped.js';
import { print } from '../print.js';
import { inThe } from './job-commands.js';
import { jobFileOptions, jobFrom } from './job-file.js';

/** Exit codes as scripts around the upstream's command expect them. */
const nothingChanges = 0;
const somethingChanges = 1;
const failed = 255;

/** `signalbox job plan FILE`: what registering the file would do. Exit code 0: no changes; 1: allocations change; 255: failure. */
export const plan = command({
  words: 'job plan',
  parameters: 'FILE',
  summary: 'what registering a job file would change; exit code 0 nothing, 1 something, 255 failed',
  options: {
    ...jobFileOptions,
    'no-diff': { type: 'flag', summary: 'only what the scheduler would do' },
    'policy-override': { type: 'flag', summary: 'override the policies that allow it' },
  },
  run: async (invocation) => {
    try {
      return await planned(invocation, invocation.options);
    } catch (error) {
      if (error instanceof Stopped && error.exitCode !== 1) throw error;
      throw new Stopped(error instanceof Error ? error.message : 'the job cannot be planned', failed);
    }
  },
});

interface PlanOptions {
  readonly 'no-diff': boolean;
  readonly 'policy-override': boolean;
  readonly var: readonly string[];
  readonly 'var-file': readonly string[];
  readonly hcl1: boolean;
}

async function planned(invocation: Invocation, options: PlanOptions): Promise<number> {
  const { parameters, terminal, box, inNamespace } = invocation;
  const [path = ''] = parameters;
  const { job } = await jobFrom(path, options, terminal);
  const document = inThe(inNamespace.namespace, job);
  const answer = await orThrow(
    box.jobs.plan(String(document.ID ?? ''), document, {
      ...inNamespace,
      diff: !options['no-diff'],
      policyOverride: options['policy-override'],
    }),
  );
  const updates = Object.entries(answer.annotations?.DesiredTGUpdates ?? {});
  const changes = updates.flatMap(([group, counts]) => {
    const told = Object.entries(counts).filter(([kind, count]) => kind !== 'Ignore' && count > 0);
    return told.length === 0
      ? []
      : [`group "${group}": ${told.map(([kind, count]) => `${count} ${words(kind)}`).join(', ')}`];
  });
  const code = changes.length === 0 ? nothingChanges : somethingChanges;
  print(invocation, answer, ({ diff, failedPlacements, warnings, nextPeriodicLaunch, jobModifyIndex }) =>
    [
      diff === null ? '' : jobDiffText(diff, coloursFor(terminal.colours)),
      changes.length === 0 ? 'nothing changes\n' : changes.map((line) => `${line}\n`).join(''),
      placementFailures(failedPlacements ?? {}),
      nextPeriodicLaunch === null ? '' : `next launch: ${nextPeriodicLaunch}\n`,
      warnings === '' ? '' : `${warnings}\n`,
      `to apply this plan: signalbox job run -check-index ${jobModifyIndex} ${path}\n`,
    ]
      .filter((part) => part !== '')
      .join('\n'),
  );
  return code;
}

/** `InPlaceUpdate` as `in place update`. */
function words(kind: string): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim();
}
