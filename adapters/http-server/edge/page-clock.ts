import { everybody, management } from '../../../src/api/access.js';
import { instant } from '../../../src/api/text-codecs.js';
import { type Instant, isoFromInstant } from '../../../src/index.js';
import type { OptionKind } from '../../../src/options/check-options.js';
import { port } from '../../../src/options/option-kinds.js';
import { isRecord } from '../../../src/shared/values.js';
import { parseJsonBody } from '../calls/query-and-body.js';
import type { Route } from '../calls/router.js';
import { badInput } from '../errors/interface-errors.js';
import { type HttpResponse, jsonResponse } from '../http-message.js';

/** Where the clock of an engine on virtual time is. Times are Unix milliseconds. */
export interface PageClockState {
  readonly now: Instant;
  /** The earliest time to which it can be set. */
  readonly start: Instant;
  /** The latest. */
  readonly end: Instant;
  /** Where it is moving to, or was last. */
  readonly target: Instant;
  /** True until it is there, and all that is due has been done. */
  readonly isMoving: boolean;
  /** Counts how often time went back: everything that was read before is void. */
  readonly world: number;
  /** What is played, for display. */
  readonly title: string;
}

/** The clock of an engine on virtual time, such as `testEngine` makes one: the web page shows its time, and moves it. */
export interface PageClock {
  state(): PageClockState;
  /** Begins to move to a time between `start` and `end`, instead of to an earlier target. Returns at once. */
  moveTo(at: Instant): void;
}

export const pageClockKind: OptionKind = port('a clock with the methods state and moveTo', 'state', 'moveTo');

/** `GET /ui-clock` for everybody, and `POST /ui-clock` with `{"to": "2026-11-30T14:00:00Z"}` for management callers. */
export function clockRoutes(clock: PageClock | undefined): readonly Route[] {
  if (clock === undefined) return [];
  const route = { name: 'clock', interface: 'system', path: '/ui-clock' } as const;
  const handle: Route['handle'] = async ({ readBody, errors }) => {
    const { start, end } = clock.state();
    const wanted = `the request body must be {"to": TIME} with a time from ${isoFromInstant(start)} to ${isoFromInstant(end)}`;
    const to = parseJsonBody(await readBody()).map(instantIn);
    if (to.isErr()) return errors.badInput(to.error);
    if (to.value === undefined || !(to.value >= start && to.value <= end))
      return errors.badInput(badInput('wrong_type', wanted));
    clock.moveTo(to.value);
    return answer(clock);
  };
  return [
    { ...route, methods: ['GET'], access: everybody, handle: () => answer(clock) },
    { ...route, methods: ['POST'], access: management, handle },
  ];
}

function instantIn(body: unknown): Instant | undefined {
  const to = isRecord(body) && Object.keys(body).length === 1 ? body['to'] : undefined;
  return typeof to === 'string' ? instant.parse(to, 'to').unwrapOr(undefined) : undefined;
}

function answer(clock: PageClock): HttpResponse {
  const { now, start, end, target, ...rest } = clock.state();
  const [shown, from, until, moving] = [now, start, end, target].map(isoFromInstant);
  const response = jsonResponse(200, JSON.stringify({ now: shown, start: from, end: until, target: moving, ...rest }));
  response.headers.push('Cache-Control', 'no-store');
  return response;
}
