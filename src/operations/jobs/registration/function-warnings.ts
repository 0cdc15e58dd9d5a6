import type { Job } from '../../../jobs/document/job.js';
import { quoted } from '../../../shared/values.js';
import type { EngineContext } from '../../context/engine-context.js';

/** Functions that a warning lists. */
const mostListed = 20;

/**
 * Warnings about tasks whose function no runner in this process has. They are not refused: a runner in another process may have it.
 * References such as `${meta.report}` are filled in later, and not checked.
 */
export function functionWarnings({ functions }: Pick<EngineContext, 'functions'>, job: Job): string[] {
  if (functions.size === 0) return [];
  const known = new Set([...functions.values()].flat());
  return job.TaskGroups.flatMap((group) =>
    group.Tasks.filter(({ Driver }) => Driver === 'function').flatMap(({ Name, Config }) => {
      const name = Config?.['function'];
      if (typeof name === 'string' && (known.has(name) || name.includes('${'))) return [];
      const what = typeof name === 'string' ? `no function ${quoted(name)}` : 'its config names no function';
      return [`group ${quoted(group.Name)}, task ${quoted(Name)}: ${what} in this process; ${listOf([...known])}`];
    }),
  );
}

function listOf(known: readonly string[]): string {
  if (known.length === 0) return 'its runner has no functions';
  const more = known.length > mostListed ? `, and ${known.length - mostListed} more` : '';
  return `its runner has ${known.slice(0, mostListed).map(quoted).join(', ')}${more}`;
}
