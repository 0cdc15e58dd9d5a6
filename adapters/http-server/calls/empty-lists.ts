import { anyCaller } from '../../../src/api/access.js';
import type { Engine, Waiting } from '../../../src/index.js';
import type { HttpResponse } from '../http-message.js';
import { waitingOf } from './call-route.js';
import { jsonType, textResponse } from './responses.js';
import type { Route, RouteCall } from './route.js';

/**
 * Lists that are empty on a server without storage plugins. Existing clients read them along with nodes and jobs, and take any other
 * answer for a failure. With the upstream names only; changes are refused as not provided.
 */
export const emptyListRoutes: readonly Route[] = [
  emptyList('volumes.list', '/v1/volumes'),
  emptyList('plugins.list', '/v1/plugins'),
];

function emptyList(name: string, path: string): Route {
  return { name, interface: 'jobs', methods: ['GET'], path, access: anyCaller, handle: answerEmptyList };
}

function answerEmptyList(call: RouteCall): HttpResponse | Promise<HttpResponse> {
  const { names, engine, query } = call;
  const waiting = waitingOf(call);
  if (waiting.isErr()) return call.errors.badInput(waiting.error);
  const region = query.get('region').unwrapOr(undefined) ?? '';
  if (region !== '' && region !== engine.settings.jobs.region) return textResponse(500, 'No path to region');
  // Never 0: with it a client that waits for a change would ask again at once.
  const headers = [names.index, String(unchanged.index), names.lastContact, '0', names.knownLeader, 'true'];
  const response: HttpResponse = { status: 200, headers: ['Content-Type', jsonType, ...headers], body: '[]' };
  return (waiting.value.after ?? 0) < unchanged.index ? response : waitOver(engine, waiting.value).then(() => response);
}

/** The answer at every index: nothing ever changes it. */
const unchanged = { index: 1, value: undefined } as const;
const neverChanges = { key: 'empty list', tables: [], run: () => unchanged };

/** Resolves when the reader has waited for as long as it wants to, is gone, or the engine stops. */
function waitOver(engine: Engine, { after = 0, wait, whenCancelled }: Waiting): Promise<unknown> {
  const { defaultWait, maximumWait } = engine.settings.queries;
  const asked = wait === undefined || wait <= 0 ? defaultWait : Math.min(wait, maximumWait);
  const deadline = engine.clock.monotonic() + asked;
  return new Promise((resolve) => {
    const current = { current: unchanged, snapshot: { index: 0, mark: 0 } };
    engine.parked.park(neverChanges, current, { after, deadline, whenCancelled, resolve });
  });
}
