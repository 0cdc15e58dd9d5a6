import type { CallAccess } from '../../../src/api/access.js';
import type { MessageSocket } from '../../../src/api/message-socket.js';
import type { Principal } from '../../../src/index.js';
import type { Route, RouteCall } from '../calls/route.js';
import { mayHaveRight } from '../edge/access.js';
import { claimantOf } from '../edge/shares.js';
import { internalErrorText } from '../errors/interface-errors.js';
import { admitSocket, type Gate } from './admit-socket.js';
import type { Admit } from './upgrade-listener.js';

/** A socket that was opened, before its caller is authenticated. */
interface OpenedSocket {
  /** Set before the caller is authenticated. */
  readonly call: RouteCall;
  readonly route: Route;
  readonly gate: Gate;
}

/** If the right depends on the record, the operation checks it: only it knows whether the record exists. */
function isJudgedHere(access: CallAccess, caller: Principal): boolean {
  return caller.node !== undefined || access.type !== 'namespace' || access.namedBy !== 'record';
}

/** Admits the caller, serves the route's socket and closes it. Never rejects. */
export async function serveSocket(
  { call, route, gate }: OpenedSocket,
  socket: MessageSocket,
  admit: Admit,
): Promise<void> {
  try {
    const admission = await admitSocket(call.request, call.query, socket, gate);
    if (admission.type === 'gone') return;
    if (admission.type === 'refused') return socket.close(admission.refusal.code, admission.refusal.reason);
    const { caller } = admission;
    if (isJudgedHere(route.access, caller) && !mayHaveRight(route, caller, call.pathValues, call.query))
      return socket.close(1011, 'Permission denied');
    if (!admit(claimantOf(caller, call.request, false)))
      return socket.close(1013, 'too many sockets of this caller are open; try again later');
    await route.socket?.({ ...call, caller }, socket);
    socket.close();
  } catch (error) {
    call.engine.logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A socket failed');
    socket.close(1011, internalErrorText);
  }
}
