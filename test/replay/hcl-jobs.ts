import { parseJob } from '../../src/jobs/parse-job.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface HclJobVector extends Vector {
  readonly hcl: string;
  readonly variables: string;
  readonly canonicalize: boolean;
  readonly ok: boolean;
  readonly job?: unknown;
  readonly errors?: readonly { readonly line: number }[];
}

/** The job that a specification describes, or the lines that errors stand on: ours may name further ones. */
export const play: Play<HclJobVector> = ({ hcl, variables, canonicalize, ok, job, errors }) =>
  parseJob(hcl, { variables, canonicalize, ids: { next: () => '' } }).match(
    (parsed) => (ok ? firstDifference(JSON.parse(JSON.stringify(parsed.job)), job) : 'accepted, not refused'),
    (problems) => {
      if (ok) return `refused: ${problems[0]?.message}`;
      const ours = new Set(problems.map(({ start }) => start.line));
      const missing = (errors ?? []).find(({ line }) => !ours.has(line));
      return missing === undefined ? undefined : `no error stands on line ${missing.line}`;
    },
  );
