import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskExit } from '../../../src/agent/task/decide-restart.js';
import { codeOf } from '../../../src/shared/values.js';
import { type ProcessIdentity, startTimeFromStat } from '../disk/process-identity.js';
import { textIn } from '../disk/text-file.js';

/**
 * The script that starts the command, so that a task outlives the runner and is neither lost nor started twice:
 * 1. the file `claim` is made either by this script or by a restarted runner that found no claim, and says by which;
 * 2. the process records its identity before the command starts;
 * 3. the exit code is in the file `exit` before the process ends, and then the rest of its process group is ended. On a full disk it is
 *    written over the file `spare`, whose blocks were allocated before the command started.
 * The traps keep the script alive while signals for the group reach the command. The pipes are opened for writing first,
 * which waits for the collector, and then in both directions, so that a restarted collector misses nothing. Writes that fail,
 * as on a full disk, are retried while the folder of the attempt exists.
 */
export const attemptScript = `
d=$1 logs=$2; shift 2
set -C
until command : >"$d/claim"; do
  [ -d "$d" ] && [ ! -e "$d/claim" ] || exit 0
  sleep 1
done 2>/dev/null
set +C
trap : HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF IO SYS
{ read -r s </proc/$$/stat; } 2>/dev/null
until printf '%s\\n%s\\n.\\n' $$ "$s" >"$d/process"; do [ -d "$d" ] && sleep 1 || exit 0; done 2>/dev/null
echo 000 >"$d/spare"
[ "$logs" = none ] || exec 3>"$d/out" 4>"$d/err" 1<>"$d/out" 2<>"$d/err" 3>&- 4>&-
"$@"
c=$?
until
  echo $c >"$d/exit" || { [ -s "$d/spare" ] && printf '%03d\\n' $c 1<>"$d/spare" && mv -f "$d/spare" "$d/exit"; } || [ ! -d "$d" ]
do sleep 1; done 2>/dev/null
kill -9 0
`;

/** The process vanished without leaving an exit code: killed, or the machine went down. */
export const lostExit: TaskExit = { type: 'exited', code: 137, signal: 9 };

/** Milliseconds that a process may take to record its identity: without `/proc`, and with it. */
const unseenTimeout = 2000;
const seenTimeout = 60_000;
/** The shortest and the longest pause between two checks, in milliseconds. */
const firstInterval = 10;
const lastInterval = 500;

/** The content of a runner's claim; a process's claim is empty. */
const claimOfRunner = 'runner\n';

/**
 * Claims the attempt. True if its command has not started, and from now on it cannot. Later runners get true as well: a runner that
 * claimed an attempt may be killed before it records that. Throws if this cannot be determined now.
 */
export function claimForRunner(attempt: string): boolean {
  const claim = join(attempt, 'claim');
  // The usual case is a running attempt, for which nothing needs to be written.
  if (existsSync(claim)) return isOfRunner(claim);
  mkdirSync(attempt, { recursive: true });
  const written = join(attempt, 'claim.runner');
  rmSync(written, { recursive: true, force: true });
  writeFileSync(written, claimOfRunner, { flag: 'wx' });
  // A hard link makes name and content appear together; without hard links the content follows a little later.
  if (makes(() => linkSync(written, claim), ['EPERM', 'ENOTSUP', 'ENOSYS'])) return true;
  return makes(() => writeFileSync(claim, claimOfRunner, { flag: 'wx' }), []) || isOfRunner(claim);
}

function isOfRunner(claim: string): boolean {
  return textIn(claim) === claimOfRunner;
}

/** Whether this call made the file; false if it exists or hard links are not supported. Throws other faults. */
function makes(make: () => void, cannot: readonly string[]): boolean {
  try {
    make();
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' || cannot.includes(code)) return false;
    throw error;
  }
}

/** How the attempt ended; undefined if it left no exit code. Throws if that cannot be read now. */
export function readExit(attempt: string): TaskExit | undefined {
  const noted = /^(\d+)\n$/.exec(textIn(join(attempt, 'exit')) ?? '')?.[1];
  if (noted === undefined) return undefined;
  const code = Number(noted);
  // The shell reports termination by signal n as 128 + n.
  return { type: 'exited', code, signal: code > 128 && code <= 128 + 64 ? code - 128 : 0 };
}

/**
 * The process that runs the attempt, which may have been claimed only now; undefined if none records itself. On a busy host or a full
 * disk the record comes late: this waits for it while `isThere` finds a process of the task. If that is unknown
 * (undefined), it must come soon. Throws if it cannot be read now.
 */
export async function readIdentity(
  attempt: string,
  isThere: () => Promise<boolean | undefined>,
): Promise<ProcessIdentity | undefined> {
  const begun = performance.now();
  for (let interval = firstInterval; ; interval = Math.min(2 * interval, lastInterval)) {
    const noted = notedIdentity(attempt);
    if (noted !== undefined || readExit(attempt) !== undefined) return noted;
    // Scanning all processes is expensive, so it comes last and ever less often.
    const seen = await isThere();
    const limit = seen === undefined ? unseenTimeout : seenTimeout;
    // A process that has ended by now either left its record before or never will.
    if (seen === false || performance.now() - begun > limit) return notedIdentity(attempt);
    await new Promise((done) => setTimeout(done, interval));
  }
}

function notedIdentity(attempt: string): ProcessIdentity | undefined {
  const lines = (textIn(join(attempt, 'process')) ?? '').split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  if (lines.length !== 4 || !Number.isInteger(pid) || pid <= 1) return undefined;
  return { pid, startTime: startTimeFromStat(lines[1] ?? '') };
}
