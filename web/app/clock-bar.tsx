import { signal } from '@preact/signals';
import { ResultAsync } from 'neverthrow';
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../parts/dialog.js';
import { Copy, Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { isShown } from './live.js';
import { rights } from './rights.js';
import { place } from './router.js';
import { sessionHeaders } from './session.js';
import { mountUrl } from './settings.js';
import { exactTime, virtualNow } from './time.js';

/** What the server says of its clock; times are RFC 3339. */
interface ClockAnswer {
  readonly now: string;
  readonly start: string;
  readonly end: string;
  readonly target: string;
  readonly isMoving: boolean;
  readonly world: number;
  readonly title: string;
}

const day = 86_400_000;
const address = new URL('ui-clock', mountUrl);
const clock = signal<ClockAnswer | undefined>(undefined);

/** Reads the clock, or begins to move it. Rejects with what the server says. */
async function askClock(to?: number): Promise<ClockAnswer> {
  const change = { method: 'POST', body: JSON.stringify({ to: to === undefined ? '' : new Date(to).toISOString() }) };
  const response = await fetch(address, { headers: sessionHeaders, ...(to === undefined ? {} : change) });
  if (!response.ok) throw new Error((await response.text()).trim() || `The server answered ${response.status}.`);
  const answer = (await response.json()) as ClockAnswer;
  // Time went back: nothing that was read is of the present installation.
  if (clock.peek() !== undefined && clock.peek()?.world !== answer.world) location.reload();
  clock.value = answer;
  virtualNow.value = Date.parse(answer.now);
  return answer;
}

function move(to: number): void {
  const moved = (): ResultAsync<ClockAnswer, { readonly type: string; readonly message: string }> =>
    ResultAsync.fromPromise(askClock(to), (error) => ({ type: 'clock', message: String(error) }));
  if (to >= (virtualNow.peek() ?? 0)) {
    void moved().mapErr(({ message }) => announce(message));
    return;
  }
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
      const answer = await askClock().catch(() => undefined);
      if (!isOver) timer = setTimeout(() => void follow(), answer?.isMoving === true ? 250 : 1000);
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

function Controls({ of }: { readonly of: ClockAnswer }) {
  const times: Times = {
    now: Date.parse(of.now),
    start: Date.parse(of.start),
    end: Date.parse(of.end),
    target: Date.parse(of.target),
  };
  const { now, target } = times;
  return (
    <section class="toolbar clock" aria-label="Clock">
      <Text of={of.title} />
      <strong role="status">
        {exactTime(now)}
        {of.isMoving && ` → ${exactTime(target)}`}
      </strong>
      {rights.value?.management === true && <Moves {...times} />}
      <Copy value={() => linkTo(of.now)} what="a link to this place and time" label="Copy a link" />
    </section>
  );
}

interface Times {
  readonly now: number;
  readonly start: number;
  readonly end: number;
  readonly target: number;
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
function linkTo(at: string): string {
  const url = new URL(location.href);
  url.searchParams.set('at', at);
  return url.href;
}
