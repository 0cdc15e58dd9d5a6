import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { logRangeIn } from '../../../src/agent/link/node-shapes.js';
import { type StreamEnd, tailBytes } from '../../../src/agent/output/output-tail.js';
import { resultOr } from '../../../src/shared/values.js';
import { isAlive, type ProcessIdentity, startTimeFromStat } from '../disk/process-identity.js';
import { textIn } from '../disk/text-file.js';
import { continueLog, continueLogSync, followingFile, type LogFile, readLogRange } from './log-files.js';

/**
 * Reads a task's output from two named pipes, writes it to `<base>.N`, each file up to its limit, and removes the oldest files.
 * It is a separate process outside the task's group: it survives the runner, none of the task's output
 * passes through the runner, and a task that writes faster than the disk is slowed down. `dd` copies at once whatever it
 * reads. It counts reads and not bytes, so each call may make only as many reads as fit in the file if all are full, and reports
 * what it copied; fewer reads mean the end. Output that does not fit on a full disk is dropped, and the task continues at its
 * own pace: if it writes without a pause, so that most reads are full, ever more is dropped between two attempts to write. If
 * the disk is still full at the end, the end of the file is truncated: a restart of the task needs room for notes.
 */
const script = `
trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE
d=$1 max=$2 keep=$3
newline='
'
# The position is noted before the next file is made and one is removed: see log-files.ts.
next() {
  size=$(($(wc -c <"$base.$n" || echo 0)))
  [ "$size" -ge "$max" ] || size=$max
  n=$((n + 1)) left=$max start=$((start + size))
  printf '\\n%016d %016d\\n' "$n" "$start" >>"\${base%/*}/.\${base##*/}.positions"
  rm -f "$base.$((n - keep))"
}
collect() {
  base=$1 n=$2 left=$3 start=$4 drop=1 full=
  while :; do
    size=$((left / 64))
    [ "$size" -le 65536 ] || size=65536
    [ "$size" -ge 1 ] || size=1
    count=$((left / size))
    if report=$(dd bs="$size" count="$count" 2>&1 >>"$base.$n"); then
      # "[warnings] 12+3 records in, 12+3 records out, 4567 bytes …": whole and partial reads, then bytes.
      records=\${report%%" records in"*} records=\${records##*"$newline"}
      set -- \${report##*records out}
      # Another collector has its place once the shell that waits for this one is gone.
      kill -0 $$ || exit
      left=$((left - $1))
      [ "$1" -eq 0 ] || drop=1 full=
      if [ "$left" -le 0 ]; then next
      elif [ $((\${records%+*} + \${records#*+})) -lt "$count" ]; then break
      fi
    else
      full=1
      report=$(dd bs=65536 count="$drop" 2>&1 >/dev/null)
      case $report in *0+0*records*in*) break ;; esac
      records=\${report%%+*" records in"*} records=\${records##*"$newline"}
      if [ $((records * 2)) -lt "$drop" ]; then drop=1
      elif [ "$drop" -lt 128 ]; then drop=$((drop * 2))
      fi
      sleep 0.1
      left=$((max - $(wc -c <"$base.$n" || echo 0)))
      [ "$left" -gt 0 ] || next
    fi
  done
  if [ "$full" ] && [ -f "$base.$n" ]; then
    size=$(($(wc -c <"$base.$n") - 65536))
    [ "$size" -gt 0 ] || size=0
    dd if=/dev/null of="$base.$n" bs=1 seek="$size" count=0
  fi
  [ -s "$base.$n" ] || [ "$n" -eq 0 ] || rm -f "$base.$n"
}
umask 077
for pipe in out err; do [ -p "$d/$pipe" ] || mkfifo "$d/$pipe" || exit 1; done
{ echo $$; cat /proc/$$/stat; } 2>/dev/null > "$d/collector"
shift 3
first=$1; shift
# A runner that came back has taken the attempt: nobody will open the pipes. It looks at the file above after that.
[ "$first" = first ] && [ -e "$d/claim" ] && exit 0
[ "$first" = first ] && printf r
exec 5<"$d/out" 6<"$d/err"
[ "$first" = first ] || printf r
exec >/dev/null 2>&1 </dev/null
collect "$1" "$2" "$3" "$4" <&5 5<&- 6<&- &
collect "$5" "$6" "$7" "$8" <&6 5<&- 6<&- &
exec 5<&- 6<&-
wait
`;

interface LogCollection {
  /** The folder of the attempt, with the pipes `out` and `err`. */
  readonly attempt: string;
  /** `<logs>/<task>`. */
  readonly base: string;
  readonly limits: LogLimits;
  /** `first`: the task has not opened the pipes yet; `again`: it has. */
  readonly when: 'first' | 'again';
}

/** Milliseconds that a collector may take to make its pipes. */
const pipeTimeout = 5000;

export interface Collector {
  /** False if the pipes could not be made. */
  readonly ready: boolean;
  readonly ended: Promise<void>;
}

/** Starts the collector of one attempt; resolves when both pipes exist. */
export async function startCollector({ attempt, base, limits, when }: LogCollection): Promise<Collector> {
  const parameters = [attempt, ...(await collectorParameters(base, limits, when))];
  const child = spawn('/bin/sh', ['-c', script, 'signalbox-log', ...parameters], {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.unref();
  const ended = new Promise<void>((done) => {
    child.once('exit', () => done());
    child.once('error', () => done());
  });
  return new Promise((resolve) => {
    const late = setTimeout(() => child.kill('SIGKILL'), pipeTimeout);
    const answer = (ready: boolean): void => {
      clearTimeout(late);
      child.stdout?.destroy();
      resolve({ ready, ended });
    };
    child.stdout?.once('data', () => answer(true));
    child.stdout?.once('end', () => answer(false));
    child.once('error', () => answer(false));
  });
}

async function collectorParameters(
  base: string,
  { maximumFileBytes, maximumFiles }: LogLimits,
  when: LogCollection['when'],
): Promise<string[]> {
  const maximum = Math.max(1, Math.floor(maximumFileBytes));
  const kept = Math.max(1, maximumFiles);
  const stream = async (name: string): Promise<string[]> => {
    const { number, size, start } = await continueLog(`${base}.${name}`, maximum, kept);
    return [`${base}.${name}`, ...[number, maximum - size, start].map(String)];
  };
  return [String(maximum), String(kept), when, ...(await stream('stdout')), ...(await stream('stderr'))];
}

/**
 * The collector of an attempt, for a restarted runner; undefined if it has ended. Throws if that cannot be determined
 * now.
 */
export function livingCollector(attempt: string): ProcessIdentity | undefined {
  const [first = '', ...rest] = textIn(join(attempt, 'collector'))?.split('\n') ?? [];
  const identity = { pid: Number.parseInt(first, 10), startTime: startTimeFromStat(rest.join('\n')) };
  return identity.pid > 1 && isAlive(identity) ? identity : undefined;
}

/** The shortest and longest pause between attempts to wake a collector, and the total time to try, in milliseconds. */
const firstWakeInterval = 20;
const lastWakeInterval = 1000;
const wakeTimeout = 60_000;

/**
 * Ends a collector whose task will not open its pipes: it waits for a writer. A collector with both pipes open reads
 * the rest. It opens one after the other, so a single attempt may be too early for the second. `collected` resolves when the collector
 * has ended: a starting collector has not recorded its identity yet.
 */
export function dismissCollector(attempt: string, collected: Promise<unknown> = Promise.resolve()): void {
  wakeUntilGone(attempt, collected).catch(() => undefined);
}

/** Removes the files of an ended attempt once no collector needs its pipes: without them it would wait for ever. */
export async function removeAttempt(attempt: string): Promise<void> {
  const remove = (): Promise<void> => rm(attempt, { recursive: true, force: true }).catch(() => undefined);
  if (mayLive(attempt)) wakeUntilGone(attempt, Promise.resolve()).then(remove, remove);
  else await remove();
}

async function wakeUntilGone(attempt: string, collected: Promise<unknown>): Promise<void> {
  let isCollected = false;
  const end = (): void => {
    isCollected = true;
  };
  collected.then(end, end);
  // Lets the exit of an already ended collector be noticed.
  await Promise.resolve();
  const limit = performance.now() + wakeTimeout;
  let interval = firstWakeInterval;
  while ((!isCollected || mayLive(attempt)) && performance.now() < limit) {
    for (const pipe of ['out', 'err']) openOnce(join(attempt, pipe));
    await new Promise((done) => setTimeout(done, interval).unref());
    interval = Math.min(interval * 1.5, lastWakeInterval);
  }
}

function mayLive(attempt: string): boolean {
  return resultOr(true, () => livingCollector(attempt) !== undefined);
}

function openOnce(pipe: string): void {
  if (!existsSync(pipe)) return;
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // The pipe has no reader (yet).
  }
}

/** How much output of a task is kept, for each of its two streams (job interface, directories and logs). */
export interface LogLimits {
  readonly maximumFiles: number;
  readonly maximumFileBytes: number;
  readonly disabled: boolean;
}

/** The end of one stream of a task's log; empty if it cannot be read. */
export async function logEnd(base: string): Promise<StreamEnd> {
  try {
    const parts: Uint8Array[] = [];
    let isCut = false;
    for await (const output of readLogRange(base, { from: null, limit: tailBytes })) {
      if (output.type === 'piece') parts.push(output.bytes);
      isCut ||= (logRangeIn(output)?.from ?? 0) > 0;
    }
    return { text: Buffer.concat(parts).toString('utf8'), isCut };
  } catch {
    return { text: '', isCut: false };
  }
}

/** Flags for appending to a file: links are not followed, and a pipe without a reader fails instead of blocking. */
const appending =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Writes the lines of one stream of a function's log to `<base>.0`, `<base>.1` and so on, keeping the newest files. A
 * line that cannot be written is dropped: a log must not make a task fail.
 */
export class LogWriter {
  readonly #base: string;
  readonly #limits: LogLimits;
  #at: LogFile = { number: 0, size: 0, start: 0 };
  #file: number | undefined;

  constructor(base: string, limits: LogLimits) {
    this.#base = base;
    this.#limits = limits;
  }

  line(text: string): void {
    if (this.#limits.disabled) return;
    const bytes = Buffer.from(`${text}\n`);
    try {
      let file = this.#file ?? this.#use(continueLogSync(this.#base, this.#kept));
      const { size } = this.#at;
      if (size > 0 && size + bytes.length > this.#limits.maximumFileBytes) file = this.#next();
      writeSync(file, bytes);
      this.#at = { ...this.#at, size: this.#at.size + bytes.length };
    } catch {
      this.close();
    }
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }

  get #kept(): number {
    return Math.max(1, this.#limits.maximumFiles);
  }

  #next(): number {
    this.close();
    const next = followingFile(this.#base, this.#at);
    const file = this.#use(next);
    rmSync(`${this.#base}.${next.number - this.#kept}`, { force: true });
    return file;
  }

  #use(at: LogFile): number {
    const file = openSync(`${this.#base}.${at.number}`, appending, 0o600);
    this.#at = at;
    this.#file = file;
    return file;
  }
}
