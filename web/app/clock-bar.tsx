import { signal } from '@preact/signals';
import { ResultAsync } from 'neverthrow';
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../parts/dialog.js';
import { Copy, Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { type Failure, messageOf } from './engine.js';
import { isShown } from './live.js';
import { rights } from './rights.js';
import { place } from './router.js';
import { sessionHeaders } from './session.js';
import { mountUrl } from './settings.js';
import { exactTime, virtualNow } from './time.js';

/** Unix milliseconds. */
interface Times {
  readonly now: number;
  readonly start: number;
  readonly end: number;
  readonly target: number;
}

/** Where the server's clock is. */
interface ClockState extends Times {
  readonly isMoving: boolean;
  /** How often time went back. */
  readonly world: number;
  readonly title: string;
}

/** As it comes: times are RFC 3339. */
type ClockAnswer = Omit<ClockState, keyof Times> & Readonly<Record<keyof Times, string>>;

const day = 86_400_000;
const address = new URL('ui-clock', mountUrl);
const clock = signal<ClockState | undefined>(undefined);

/** Reads the clock; with a time, begins to move it there. Rejects with what the server says. */
async function askClock(to?: number): Promise<void> {
  const change = to === undefined ? {} : { method: 'POST', body: JSON.stringify({ to: new Date(to).toISOString() }) };
  const response = await fetch(address, { headers: sessionHeaders, ...change });
  if (!response.ok) throw new Error((await response.text()).trim() || `The server answered ${response.status}.`);
  const answer = (await response.json()) as ClockAnswer;
  // Time went back: nothing that was read is of the present installation.
  if (clock.peek() !== undefined && clock.peek()?.world !== answer.world) location.reload();
  const now = Date.parse(answer.now);
  const [start, end, target] = [Date.parse(answer.start), Date.parse(answer.end), Date.parse(answer.target)];
  clock.value = { ...answer, now, start, end, target };
  virtualNow.value = now;
}

function move(to: number): void {
  const moved = (): ResultAsync<void, Failure> =>
    ResultAsync.fromPromise(askClock(to), (error) => ({
      type: 'clock',
      message: error instanceof Error ? error.message : '',
    }));
  if (to >= (virtualNow.peek() ?? 0)) return void moved().mapErr((failure) => announce(messageOf(failure)));
  ask({
    title: `Go back to ${exactTime(to)}`,
    body: <p>Everything happens again as it did, without what was changed by hand since the start.</p>,
    action: 'Go back',
    isDestructive: true,
    run: moved,
  });
}

/** The clock of an installation on virtual time, with what moves it. */
export function ClockBar() {
  const shown = isShown.value;
  useEffect(() => {
    if (!shown) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const follow = async (): Promise<void> => {
      await askClock().catch(() => undefined);
      if (!isOver) timer = setTimeout(() => void follow(), clock.peek()?.isMoving === true ? 250 : 1000);
    };
    void follow();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [shown]);
  const known = clock.value;
  return known === undefined ? null : <Controls of={known} />;
}

function Controls({ of }: { readonly of: ClockState }) {
  const { now, target, isMoving, title } = of;
  return (
    <section class="toolbar clock" aria-label="Clock">
      <Text of={title} />
      <strong role="status">
        {exactTime(now)}
        {isMoving && ` → ${exactTime(target)}`}
      </strong>
      {rights.value?.management === true && <Moves {...of} />}
      <Copy value={() => linkTo(now)} what="a link to this place and time" label="Copy a link" />
    </section>
  );
}

const steps = { '+1 min': 60_000, '+10 min': 600_000, '+1 h': 3_600_000, '+6 h': 6 * 3_600_000, '+1 day': day };

function Moves({ now, start, end, target }: Times) {
  const [wanted, setWanted] = useState<number | undefined>(undefined);
  const linked = Date.parse(place.value.query.get('at') ?? '');
  const position = wanted ?? target;
  return (
    <>
      <input
        type="range"
        // A reloaded page has another time.
        autocomplete="off"
        aria-label="Time"
        aria-valuetext={exactTime(position)}
        min={start}
        // A day, and more where the clock is further.
        max={Math.min(end, start + Math.ceil(Math.max(1, target - start) / day) * day)}
        step={60_000}
        value={position}
        onInput={(event) => setWanted(event.currentTarget.valueAsNumber)}
        onChange={(event) => {
          move(event.currentTarget.valueAsNumber);
          setWanted(undefined);
        }}
      />
      {wanted !== undefined && <span>{exactTime(wanted)}</span>}
      {Object.entries(steps).map(([label, step]) => (
        <button key={label} type="button" disabled={target + step > end} onClick={() => move(target + step)}>
          {label}
        </button>
      ))}
      <button type="button" disabled={now === start} onClick={() => move(start)}>
        Back to the start
      </button>
      {linked >= start && linked <= end && linked !== now && (
        <button type="button" class="primary" onClick={() => move(linked)}>
          Go to the time of the link, {exactTime(linked)}
        </button>
      )}
    </>
  );
}

/** The address of what is shown, with the time. */
function linkTo(at: number): string {
  const url = new URL(location.href);
  url.searchParams.set('at', new Date(at).toISOString());
  return url.href;
}
