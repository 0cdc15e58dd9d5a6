import { type Signal, signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { box, messageOf } from '../app/engine.js';
import { useKey } from '../app/keys.js';
import { isPaused, isShown } from '../app/live.js';
import { linesMatching } from '../app/patterns.js';
import { prefer, preferences } from '../app/preferences.js';
import { addressOf, Link, place, setQuery } from '../app/router.js';
import { mountUrl } from '../app/settings.js';
import { FailureNote } from '../parts/form.js';
import { Copy, Text } from '../parts/text.js';
import { bytesText, counted, countText } from '../rules/durations.js';
import { bytesOf, fieldsOf, joined, type LogLine, linesOf, type Piece, rangeOf, wantedOf } from '../rules/log-lines.js';
import { visible } from '../rules/safe-text.js';
import { spansOf } from '../rules/terminal-output.js';

interface Stream {
  readonly id: string;
  readonly task: string;
  readonly type: 'stdout' | 'stderr';
}

/** What is loaded of an output, and what there is. */
interface Loaded {
  readonly lines: readonly LogLine[];
  /** The first byte that the node still has, and the end of the output. */
  readonly firstByte: number;
  readonly endByte: number;
  readonly files: number;
  readonly hasEnded: boolean;
  readonly failure: string;
}

const nothing: Loaded = { lines: [], firstByte: 0, endByte: 0, files: 0, hasEnded: false, failure: '' };
const pageBytes = 256 * 1024;
const mostBytes = 1024 * 1024;
/** The most lines that are held; when more arrive, the earliest are dropped, and are read again when one scrolls up. */
const mostLines = 150_000;
/** The most bytes of a line without an end that are waited for. */
const longestRest = 8 * 1024 * 1024;

/** The output of a task: begins at its end or at a position, reads backwards, and follows. */
class Output {
  readonly state: Signal<Loaded> = signal(nothing);
  readonly #stream: Stream;
  /** Bytes behind the last whole line. */
  #rest: Piece = { from: 0, bytes: new Uint8Array() };
  /** Position of the first loaded byte. */
  #first = 0;
  #isBusy = false;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  /** Reads the end, or what is around a position. */
  async begin(at: number | undefined): Promise<void> {
    await this.#alone(async () => {
      const from = at === undefined ? undefined : Math.max(0, at - pageBytes / 2);
      const read = await this.#read(from, pageBytes);
      if (read === undefined) return;
      // The first line may have begun earlier.
      const isCut = read.from > read.firstByte;
      const bytes = bytesOf(read.data);
      const start = isCut ? startIn(bytes) : 0;
      this.#first = read.from + start;
      this.#append({ from: this.#first, bytes: bytes.subarray(start) }, read, []);
    });
  }

  async earlier(): Promise<void> {
    await this.#alone(async () => {
      const { firstByte, lines } = this.state.peek();
      if (this.#first <= firstByte) return;
      const from = Math.max(firstByte, this.#first - pageBytes);
      const read = await this.#read(from, this.#first - from);
      if (read === undefined || read.to < this.#first) return;
      const bytes = bytesOf(read.data);
      const start = read.from > read.firstByte ? startIn(bytes) : 0;
      const { lines: before } = linesOf({ from: read.from + start, bytes: bytes.subarray(start) }, true);
      this.#first = read.from + start;
      this.state.value = { ...this.state.peek(), firstByte: read.firstByte, lines: [...before, ...lines] };
    });
  }

  /** Whether the lines reach nearly to the end of the output: what one does not follow is not read to its end. */
  get isNearEnd(): boolean {
    const { lines, endByte } = this.state.peek();
    return lines.length < mostLines && endByte - this.#rest.from < 2 * mostBytes;
  }

  /** Reads what was written since, or the end alone when much is between. Answers whether there may be more. */
  async follow(): Promise<boolean> {
    const { endByte } = this.state.peek();
    if (endByte - this.#rest.from < 16 * mostBytes) return this.later();
    await this.begin(undefined);
    return false;
  }

  /** Reads where the output begins and ends. */
  async positions(): Promise<void> {
    await this.#alone(async () => {
      const read = await this.#read(undefined, 0);
      if (read === undefined) return;
      const { firstByte, endByte, files, hasEnded } = read;
      this.state.value = { ...this.state.peek(), firstByte, endByte, files, hasEnded, failure: '' };
    });
  }

  /** Reads what was written since. Answers whether there may be more. */
  async later(): Promise<boolean> {
    let isMore = false;
    await this.#alone(async () => {
      const next = this.#rest.from + this.#rest.bytes.length;
      const read = await this.#read(next, mostBytes);
      if (read === undefined) return;
      isMore = read.to < read.endByte;
      const lines = this.#whole();
      // What rotation has removed meanwhile is missing here, and the positions show it.
      const bytes = read.from === next ? joined(this.#rest.bytes, bytesOf(read.data)) : bytesOf(read.data);
      this.#append({ from: read.from === next ? this.#rest.from : read.from, bytes }, read, lines);
    });
    return isMore;
  }

  /** The lines that have ended. */
  #whole(): readonly LogLine[] {
    const { lines } = this.state.peek();
    return lines.at(-1)?.from === this.#rest.from ? lines.slice(0, -1) : lines;
  }

  #append(piece: Piece, { firstByte, endByte, files, hasEnded, to }: Answer, before: readonly LogLine[]): void {
    const { lines, rest } = linesOf(piece, (hasEnded && to === endByte) || piece.bytes.length > longestRest);
    const old = this.state.peek();
    const isSame =
      lines.length === 0 &&
      rest.from === this.#rest.from &&
      rest.bytes.length === this.#rest.bytes.length &&
      old.endByte === endByte &&
      old.hasEnded === hasEnded &&
      old.firstByte === firstByte &&
      old.failure === '';
    this.#rest = rest;
    if (isSame) return;
    // A line without an end, as a question or a progress has, is shown as far as it is written.
    const unfinished = rest.bytes.length > 0 && rest.bytes.length < pageBytes ? linesOf(rest, true).lines : [];
    const all = [...before, ...lines, ...unfinished];
    const kept = all.length > mostLines ? all.slice(-mostLines) : all;
    if (kept !== all) this.#first = kept[0]?.from ?? this.#first;
    this.state.value = { lines: kept, firstByte, endByte, files, hasEnded, failure: '' };
  }

  async #read(from: number | undefined, limit: number): Promise<Answer | undefined> {
    const { id, task, type } = this.#stream;
    const read = await box.files.readLog(id, { task, type, limit, ...(from === undefined ? {} : { from }) });
    if (read.isOk()) return read.value;
    this.state.value = { ...this.state.peek(), failure: messageOf(read.error) };
    return undefined;
  }

  async #alone(read: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    await read();
    this.#isBusy = false;
  }
}

/** Where the first whole line begins; a line longer than all the bytes is cut where they begin. */
function startIn(bytes: Uint8Array): number {
  const start = bytes.indexOf(10) + 1;
  return start === bytes.length ? 0 : start;
}

interface Answer {
  readonly firstByte: number;
  readonly endByte: number;
  readonly files: number;
  readonly hasEnded: boolean;
  readonly from: number;
  readonly to: number;
  readonly data: string;
}

interface LogsProps {
  readonly id: string;
  readonly task: string;
  readonly tasks: readonly string[];
  readonly view: string;
}

/** The logs of a task: one stream, or both beside each other. */
export function Logs({ id, task, tasks, view }: LogsProps) {
  const streams =
    view === 'both' ? (['stdout', 'stderr'] as const) : ([view === 'stderr' ? 'stderr' : 'stdout'] as const);
  return (
    <>
      <div class="toolbar">
        {tasks.length > 1 && (
          <span class="chips">
            {tasks.map((each) => (
              <Link
                key={each}
                class="chip"
                to={addressOf(['allocs', id, 'logs', each, view])}
                {...(each === task ? { 'aria-current': 'page' } : {})}
              >
                <Text of={each} />
              </Link>
            ))}
          </span>
        )}
        {['stdout', 'stderr', 'both'].map((each) => (
          <Link
            key={each}
            class="button"
            to={addressOf(['allocs', id, 'logs', task, each], Object.fromEntries(place.value.query))}
            {...(each === view ? { 'aria-current': 'page' } : {})}
          >
            {each}
          </Link>
        ))}
      </div>
      <div class={streams.length > 1 ? 'columns' : ''}>
        {streams.map((type) => (
          <LogPane key={`${id} ${task} ${type}`} id={id} task={task} type={type} />
        ))}
      </div>
    </>
  );
}

const pollTime = 1000;

function LogPane(stream: Stream) {
  const { type } = stream;
  const output = useMemo(() => new Output(stream), []);
  const linked = rangeOf(place.value.hash);
  const [follows, setFollows] = useState(linked === undefined);
  const isFollowing = useRef(follows);
  isFollowing.current = follows;
  const [seen, setSeen] = useState(0);
  const asked = place.value.query.get('q') ?? '';
  const level = place.value.query.get('level') ?? '';
  const onlyMatches = place.value.query.get('only') === 'yes';
  const { lines, firstByte, endByte, files, hasEnded, failure } = output.state.value;
  const search = useMatches(lines, asked);
  const [step, setStep] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useKey('/', () => input.current?.focus());

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const read = async (): Promise<boolean> => {
      if (isFollowing.current) return output.follow();
      if (output.isNearEnd) return output.later();
      await output.positions();
      return false;
    };
    const poll = async (): Promise<void> => {
      const isMore = isShown.peek() && !isPaused.peek() ? await read() : false;
      const wait = output.state.peek().failure === '' ? pollTime : 5 * pollTime;
      if (!isOver) timer = setTimeout(() => void poll(), isMore ? 0 : wait);
    };
    const begin = async (): Promise<void> => {
      await output.begin(linked?.from);
      if (!isOver) timer = setTimeout(() => void poll(), pollTime);
    };
    void begin();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);

  const isWanted = (line: LogLine, at: number): boolean =>
    (level === '' || line.level === 'error' || (level === 'warn' && line.level === 'warn')) &&
    (!onlyMatches || asked === '' || search.found.has(at));
  const isFiltered = level !== '' || (onlyMatches && asked !== '');
  const shown = useMemo(
    () => (isFiltered ? lines.flatMap((line, at) => (isWanted(line, at) ? [at] : [])) : lines.map((_, at) => at)),
    [lines, level, onlyMatches, search],
  );
  const matches = useMemo(() => [...search.found].sort((a, b) => a - b), [search]);
  const current =
    matches.length === 0 ? undefined : matches[((step % matches.length) + matches.length) % matches.length];
  const isPartial = (lines[0]?.from ?? 0) > firstByte || (lines.at(-1)?.to ?? endByte) < endByte;
  const news = follows ? 0 : lines.filter(({ from }) => from >= seen).length;
  const stop = (): void => {
    setFollows(false);
    setSeen(lines.at(-1)?.to ?? 0);
  };
  useEffect(() => {
    if (linked !== undefined) stop();
  }, [linked?.from]);
  const isGone = linked !== undefined && endByte > 0 && linked.from < firstByte;
  const download = new URL(`v1/client/fs/logs/${encodeURIComponent(stream.id)}`, mountUrl);
  download.search = new URLSearchParams({ task: stream.task, type, download: 'true', plain: 'true' }).toString();
  /** Up to 5 MiB that were written before, in the pages in which they are read. */
  const loadEarlier = async (): Promise<void> => {
    stop();
    for (let page = 0; page < 20 && output.state.peek().lines.length < mostLines; page++) await output.earlier();
  };
  const linkTo = addressOf(['allocs', stream.id, 'logs', stream.task, type], Object.fromEntries(place.value.query));
  return (
    <section aria-label={type}>
      <search>
        <div class="toolbar">
          <strong>{type}</strong>
          <input
            ref={input}
            type="search"
            aria-label="Find"
            placeholder="Find, or /pattern/"
            value={asked}
            onInput={(event) => {
              setStep(0);
              setQuery({ q: event.currentTarget.value });
            }}
          />
          <span role="status">
            {search.failure !== ''
              ? search.failure
              : asked === ''
                ? ''
                : matches.length === 0
                  ? 'not found'
                  : `${matches.indexOf(current ?? 0) + 1} of ${countText(matches.length)}`}
            {asked !== '' && isPartial ? ' in the loaded lines' : ''}
          </span>
          <button
            type="button"
            disabled={matches.length === 0}
            aria-label="Previous match"
            onClick={() => {
              stop();
              setStep(step - 1);
            }}
          >
            ↑
          </button>
          <button
            type="button"
            disabled={matches.length === 0}
            aria-label="Next match"
            onClick={() => {
              stop();
              setStep(step + 1);
            }}
          >
            ↓
          </button>
          <Toggle label="only matches" isOn={onlyMatches} set={(on) => setQuery({ only: on ? 'yes' : undefined })} />
          <label>
            <span class="sr">Level</span>
            <select value={level} onChange={(event) => setQuery({ level: event.currentTarget.value })}>
              <option value="">all levels</option>
              <option value="warn">warnings and errors</option>
              <option value="error">errors</option>
            </select>
          </label>
          <Toggle label="wrap" isOn={preferences.value.wrapsLogs} set={(on) => prefer({ wrapsLogs: on })} />
          <Toggle label="follow" isOn={follows} set={(on) => (on ? setFollows(true) : stop())} />
          <Copy value={() => lines.map(({ plain }) => plain).join('\n')} what="the loaded lines" label="Copy" />
          <a class="button" href={download.href} download>
            Download all
          </a>
        </div>
      </search>
      <FailureNote of={failure} />
      {isGone && (
        <p class="notice waiting">
          The part that the address names is gone: the node keeps the output from byte {firstByte.toLocaleString('en')}.
        </p>
      )}
      <Window
        lines={lines}
        shown={shown}
        wanted={asked}
        current={current}
        linked={linked}
        follows={follows}
        wraps={preferences.value.wrapsLogs}
        unfollow={stop}
        earlier={() => output.earlier()}
        later={() => output.later()}
        address={(line) => `${linkTo}#b${line.from}-${line.to}`}
      />
      <div class="toolbar">
        <span class="hint">{summary({ lines, firstByte, endByte, files, hasEnded })}</span>
        {(lines[0]?.from ?? firstByte) > firstByte && lines.length < mostLines && (
          <button type="button" onClick={() => void loadEarlier()}>
            Load earlier
          </button>
        )}
        {news > 0 && (
          <button type="button" onClick={() => setFollows(true)}>
            {counted(news, 'new line')} ↓
          </button>
        )}
      </div>
    </section>
  );
}

function summary({ lines, firstByte, endByte, files, hasEnded }: Omit<Loaded, 'failure'>): string {
  if (endByte === 0) return hasEnded ? 'The task has written nothing.' : 'The task has written nothing yet.';
  const [first] = lines;
  const earlier = first !== undefined && first.from > firstByte ? '; the earlier part loads when you scroll up' : '';
  const end = lines.at(-1)?.to ?? endByte;
  const later = endByte > end ? ` of ${endByte.toLocaleString('en')}; the later part loads when you scroll down` : '';
  const gone = firstByte > 0 ? `; ${bytesText(firstByte)} before are not kept` : '';
  return `${counted(lines.length, 'line')}, bytes ${(first?.from ?? endByte).toLocaleString('en')}–${end.toLocaleString('en')}${later}${earlier}${gone}; the node keeps ${counted(files, 'file')}${hasEnded ? '; the task has ended' : ''}`;
}

function Toggle({
  label,
  isOn,
  set,
}: {
  readonly label: string;
  readonly isOn: boolean;
  readonly set: (on: boolean) => void;
}) {
  return (
    <label>
      <input type="checkbox" checked={isOn} onChange={(event) => set(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

interface Search {
  readonly found: ReadonlySet<number>;
  readonly failure: string;
}

const none: Search = { found: new Set(), failure: '' };

/** The lines that match, found again when lines arrive. */
function useMatches(lines: readonly LogLine[], asked: string): Search {
  const wanted = useMemo(() => wantedOf(asked), [asked]);
  const [byPattern, setByPattern] = useState<Search>(none);
  useEffect(() => {
    if (wanted?.isPattern !== true) return;
    let isOver = false;
    const find = async (): Promise<void> => {
      const matches = await linesMatching(
        wanted.text,
        lines.map(({ plain }) => plain),
      );
      if (!isOver)
        setByPattern(
          'found' in matches
            ? { found: new Set(matches.found), failure: '' }
            : { found: new Set(), failure: matches.failure },
        );
    };
    const timer = setTimeout(() => void find(), 50);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [lines, wanted]);
  return useMemo(() => {
    if (wanted === undefined) return none;
    if (wanted.isPattern) return byPattern;
    return {
      found: new Set(lines.flatMap(({ plain }, at) => (plain.toLowerCase().includes(wanted.text) ? [at] : []))),
      failure: '',
    };
  }, [lines, wanted, byPattern]);
}

const rowHeight = 20;
/** Rows that are measured and rendered together. */
const blockSize = 50;

interface WindowProps {
  readonly lines: readonly LogLine[];
  /** Numbers of the lines that are shown. */
  readonly shown: readonly number[];
  readonly wanted: string;
  /** The match that one has stepped to. */
  readonly current: number | undefined;
  readonly linked: { readonly from: number; readonly to: number } | undefined;
  readonly follows: boolean;
  readonly wraps: boolean;
  readonly unfollow: () => void;
  readonly earlier: () => Promise<void>;
  readonly later: () => Promise<boolean>;
  readonly address: (line: LogLine) => string;
}

/**
 * The visible part of the lines, in blocks whose heights are measured once they have been rendered. What is read stays in place when earlier
 * lines are put before it.
 */
function Window({
  lines,
  shown,
  wanted,
  current,
  linked,
  follows,
  wraps,
  unfollow,
  earlier,
  later,
  address,
}: WindowProps) {
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<number, number>());
  const [range, setRange] = useState<readonly [number, number]>([0, 2]);
  const blocks = Math.ceil(shown.length / blockSize);
  const key = (block: number): number => lines[shown[block * blockSize] ?? 0]?.from ?? 0;
  const countIn = (block: number): number => Math.min(blockSize, shown.length - block * blockSize);
  const heightOf = (block: number): number =>
    heights.current.get(key(block) * 2 + (wraps ? 1 : 0)) ?? countIn(block) * rowHeight;
  const topOf = (block: number): number => {
    let top = 0;
    for (let each = 0; each < block; each++) top += heightOf(each);
    return top;
  };
  const measure = (): void => {
    const element = box.current;
    if (element === null) return;
    let top = 0;
    let first = 0;
    while (first < blocks - 1 && top + heightOf(first) < element.scrollTop - 200) top += heightOf(first++);
    let last = first;
    while (last < blocks && top < element.scrollTop + element.clientHeight + 200) top += heightOf(last++);
    setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]));
  };
  /** The line that one reads, to stay in place. */
  const anchor = useRef<{ readonly from: number; readonly offset: number } | undefined>(undefined);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    for (const block of element.querySelectorAll<HTMLElement>('[data-block]')) {
      const number = Number(block.dataset['block']);
      heights.current.set(key(number) * 2 + (wraps ? 1 : 0), block.offsetHeight);
    }
    if (follows) element.scrollTop = element.scrollHeight;
    else if (anchor.current !== undefined) {
      const { from: wantedFrom, offset } = anchor.current;
      const row = element.querySelector<HTMLElement>(`[data-from="${wantedFrom}"]`);
      if (row !== null) {
        element.scrollTop += row.getBoundingClientRect().top - element.getBoundingClientRect().top - offset;
      } else {
        // Lines that were put before it have moved it out of what is rendered: its place is an estimate until it is rendered.
        const at = shown.findIndex((each) => (lines[each]?.to ?? 0) > wantedFrom);
        if (at !== -1) element.scrollTop = estimate(at) - offset;
      }
    } else keepAnchor();
    measure();
  });
  const estimate = (at: number): number => topOf(Math.floor(at / blockSize)) + (at % blockSize) * rowHeight;
  const goTo = (line: number): void => {
    const at = shown.indexOf(line);
    const element = box.current;
    const from = lines[line]?.from;
    if (at === -1 || element === null || from === undefined) return;
    const offset = Math.floor(element.clientHeight / 3);
    element.scrollTop = estimate(at) - offset;
    anchor.current = { from, offset };
    measure();
  };
  useEffect(() => {
    if (current !== undefined && !follows) goTo(current);
  }, [current]);
  const isLoaded = lines.length > 0;
  useEffect(() => {
    if (linked === undefined || !isLoaded) return;
    const line = lines.findIndex(({ to }) => to > linked.from);
    if (line !== -1) goTo(line);
  }, [linked?.from, isLoaded]);
  const scrolled = (): void => {
    const element = box.current;
    if (element === null) return;
    const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
    if (follows && !isAtEnd && element.scrollTop < lastTop.current) unfollow();
    lastTop.current = element.scrollTop;
    keepAnchor();
    if (element.scrollTop < 400) void earlier();
    else if (!follows && element.scrollTop + element.clientHeight > element.scrollHeight - 400) void later();
    measure();
  };
  const lastTop = useRef(0);
  const keepAnchor = (): void => {
    const element = box.current;
    if (element === null) return;
    const edge = element.getBoundingClientRect().top;
    const row = [...element.querySelectorAll<HTMLElement>('[data-from]')].find(
      (each) => each.getBoundingClientRect().bottom > edge,
    );
    const offset = (row?.getBoundingClientRect().top ?? 0) - edge;
    anchor.current =
      row === undefined || offset > element.clientHeight ? undefined : { from: Number(row.dataset['from']), offset };
  };
  const [from, to] = [Math.min(range[0], Math.max(0, blocks - 1)), Math.min(range[1], blocks)];
  const rendered = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
  const before = topOf(from);
  const after = rendered.length === 0 ? 0 : topOf(blocks) - topOf(to);
  return (
    <div ref={box} class={wraps ? 'log wrap' : 'log'} role="log" aria-live="off" tabIndex={0} onScroll={scrolled}>
      <div style={{ height: `${before}px` }} />
      {rendered.map((block) => (
        <div key={key(block)} data-block={block}>
          {shown.slice(block * blockSize, block * blockSize + countIn(block)).map((at) => {
            const line = lines[at];
            return line === undefined ? null : (
              <Row
                key={line.from}
                line={line}
                wanted={wanted}
                isCurrent={at === current}
                isLinked={linked !== undefined && line.from < linked.to && line.to > linked.from}
                to={address(line)}
              />
            );
          })}
        </div>
      ))}
      <div style={{ height: `${after}px` }} />
    </div>
  );
}

interface RowProps {
  readonly line: LogLine;
  readonly wanted: string;
  readonly isCurrent: boolean;
  readonly isLinked: boolean;
  readonly to: string;
}

/** The most characters of a line that are shown at first. */
const longestLine = 10_000;

function Row({ line, wanted, isCurrent, isLinked, to }: RowProps) {
  const [isWhole, setWhole] = useState(false);
  const isCut = line.text.length > longestLine && !isWhole;
  const fields = isCut ? undefined : fieldsOf(line.plain);
  const level = line.level === 'other' ? '' : ` level-${line.level}`;
  return (
    <div class={`row${level}${isLinked || isCurrent ? ' linked' : ''}`} data-from={line.from}>
      <Link to={to} aria-label="Link to this line">
        #
      </Link>
      <span>
        {fields !== undefined
          ? fields.map(([name, value], at) => (
              <span key={name}>
                {at > 0 ? '  ' : ''}
                <span class="dim">{visible(name)}=</span>
                <Marked text={value} wanted={wanted} />
              </span>
            ))
          : spansOf(isCut ? line.text.slice(0, longestLine) : line.text).map(({ text, styles }, at) => (
              <span key={at} class={styles.join(' ')}>
                <Marked text={text} wanted={wanted} />
              </span>
            ))}
        {isCut && (
          <button type="button" onClick={() => setWhole(true)}>
            all {bytesText(line.to - line.from)}
          </button>
        )}
      </span>
    </div>
  );
}

/** A string with the parts marked that one has searched for. */
function Marked({ text, wanted }: { readonly text: string; readonly wanted: string }) {
  const asked = wantedOf(wanted);
  if (asked === undefined || asked.isPattern) return <>{visible(text)}</>;
  const parts: { readonly text: string; readonly isMatch: boolean }[] = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(asked.text); at !== -1 && parts.length < 200; at = lower.indexOf(asked.text, from)) {
    parts.push(
      { text: text.slice(from, at), isMatch: false },
      { text: text.slice(at, at + asked.text.length), isMatch: true },
    );
    from = at + asked.text.length;
  }
  parts.push({ text: text.slice(from), isMatch: false });
  return (
    <>{parts.map((part, at) => (part.isMatch ? <mark key={at}>{visible(part.text)}</mark> : visible(part.text)))}</>
  );
}
