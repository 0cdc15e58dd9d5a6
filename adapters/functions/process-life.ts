import { readFileSync, readlinkSync } from 'node:fs';
import { resultOr } from '../../src/shared/values.js';

/*
 * Linux says when a process began, in ticks since the start of the machine. With the machine's start and the namespace of the number,
 * that names a process for ever. Elsewhere nothing is known, and a lease decides.
 */

interface Life {
  /** `R`, `S`, `T` for stopped, `Z` for dead and not yet collected, … */
  readonly state: string;
  readonly startedAt: string;
}

/** The machine as this process sees it: its start, and the namespace of process numbers. */
const machine = resultOr(
  undefined,
  () => `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${readlinkSync('/proc/self/ns/pid')}`,
);

export const identity = ((): string | undefined => {
  const own = lifeOfProcess(process.pid);
  return machine === undefined || own === undefined ? undefined : `${machine} ${process.pid} ${own.startedAt}`;
})();

/** Whether the process of an identity is alive; `unknown` of another machine, and while it is stopped. */
export function lifeOf(other: string): 'alive' | 'dead' | 'unknown' {
  const parts = /^(.*) (\d+) (\d+)$/.exec(other);
  if (machine === undefined || parts === null || parts[1] !== machine) return 'unknown';
  const found = lifeOfProcess(Number(parts[2]));
  if (found === undefined || found.startedAt !== parts[3] || 'ZX'.includes(found.state)) return 'dead';
  return 'tT'.includes(found.state) ? 'unknown' : 'alive';
}

/** The fields after the name, which stands in brackets and may have any characters. */
function lifeOfProcess(pid: number): Life | undefined {
  const text = resultOr(undefined, () => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startedAt] = [fields?.[0], fields?.[19]];
  return state === undefined || startedAt === undefined ? undefined : { state, startedAt };
}
