import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskExit } from '../../../src/agent/task/decide-restart.js';
import { type ProcessIdentity, startTimeFromStat } from '../disk/process-identity.js';
import { textIn } from '../disk/text-file.js';

/**
 * What runs in front of the command, so that a task outlives the runner and is neither lost nor doubled:
 * 1. the file `claim` is made by exactly one of this script and a runner that came back and found no claim, and says which;
 * 2. the process notes who it is before the command begins;
 * 3. the exit code is in the file `exit` before the process ends, and then the rest of its process group is ended. On a full disk it is
 *    written over the file `spare`, which has its place since before the command began.
 * The traps keep the script alive while signals for the group reach the command. The pipes are opened for writing first,
 * which waits for the collector, and then for both directions, so that a collector that is started anew misses nothing. What cannot
 * be written at present, as on a full disk, is tried again while the folder of the attempt is there.
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

/** How long a process may take to note who it is where nobody can see it, and where it can be seen. In milliseconds. */
const unseenPatience = 2000;
const seenPatience = 60_000;
/** Between two looks, at first and at last. In milliseconds. */
const firstInterval = 10;
const lastInterval = 500;

/** The content of a runner's claim; that of a process is empty. */
const claimOfRunner = 'runner\n';

/**
 * True when the command of the attempt has not begun; from now on it cannot. It stays true for every runner that asks later: one that
 * claimed an attempt may be killed before it has noted it. Throws when it is unknown at present.
 */
export function claimForRunner(attempt: string): boolean {
  const claim = join(attempt, 'claim');
  // Most attempts that are looked for run: nothing is written for them.
  if (existsSync(claim)) return isOfRunner(claim);
  mkdirSync(attempt, { recursive: true });
  const written = join(attempt, 'claim.runner');
  rmSync(written, { recursive: true, force: true });
  writeFileSync(written, claimOfRunner, { flag: 'wx' });
  // A link appears with its content, or not at all; where there are none, the content comes a time later.
  if (makes(() => linkSync(written, claim), ['EPERM', 'ENOTSUP', 'ENOSYS'])) return true;
  return makes(() => writeFileSync(claim, claimOfRunner, { flag: 'wx' }), []) || isOfRunner(claim);
}

function isOfRunner(claim: string): boolean {
  return textIn(claim) === claimOfRunner;
}

/** Whether this made the file; not when it is there already or cannot be made so. Throws other faults. */
function makes(make: () => void, cannot: readonly string[]): boolean {
  try {
    make();
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || cannot.includes(code)) return false;
    throw error;
  }
}

/** How the attempt ended; undefined when it left no exit code. Throws when that cannot be read at present. */
export function readExit(attempt: string): TaskExit | undefined {
  const noted = /^(\d+)\n$/.exec(textIn(join(attempt, 'exit')) ?? '')?.[1];
  if (noted === undefined) return undefined;
  const code = Number(noted);
  // The shell reports the end by signal n as 128 + n.
  return { type: 'exited', code, signal: code > 128 && code <= 128 + 64 ? code - 128 : 0 };
}

/**
 * Who runs the attempt, which may have been claimed a time ago; undefined when nobody says so. On a busy machine or a full
 * disk the note comes late: it is waited for as long as `isThere` sees a process of the task. Where that cannot be seen
 * (undefined), it has to come soon. Throws when it cannot be read at present.
 */
export async function readIdentity(
  attempt: string,
  isThere: () => Promise<boolean | undefined>,
): Promise<ProcessIdentity | undefined> {
  const begun = performance.now();
  for (let interval = firstInterval; ; interval = Math.min(2 * interval, lastInterval)) {
    const noted = notedIdentity(attempt);
    if (noted !== undefined || readExit(attempt) !== undefined) return noted;
    // Looking through all processes is work, so it comes last, and less and less often.
    const seen = await isThere();
    const patience = seen === undefined ? unseenPatience : seenPatience;
    // One that had ended by the look has left its note before, or never will.
    if (seen === false || performance.now() - begun > patience) return notedIdentity(attempt);
    await new Promise((done) => setTimeout(done, interval));
  }
}

function notedIdentity(attempt: string): ProcessIdentity | undefined {
  const lines = (textIn(join(attempt, 'process')) ?? '').split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  if (lines.length !== 4 || !Number.isInteger(pid) || pid <= 1) return undefined;
  return { pid, startTime: startTimeFromStat(lines[1] ?? '') };
}
