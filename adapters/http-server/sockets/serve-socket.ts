import type { MessageSocket } from '../../../src/api/message-socket.js';
import { type Authenticator, mayHaveRight } from '../access.js';
import type { Route, RouteCall } from '../route.js';
import { admitSocket } from './admit-socket.js';

/** A socket that was opened, before anybody knows who has opened it. */
export interface OpenedSocket {
  readonly call: Omit<RouteCall, 'caller'>;
  readonly route: Route;
  readonly converse: NonNullable<Route['socket']>;
  readonly authenticate: Authenticator;
}

/** Admits the caller, has the conversation of the route, and ends the socket. Never rejects. */
export async function serveSocket(opened: OpenedSocket, socket: MessageSocket): Promise<void> {
  const { call, route, converse, authenticate } = opened;
  try {
    const admission = await admitSocket(call.request, call.query, socket, authenticate);
    if (admission.type === 'gone') return;
    if (admission.type === 'refused') return socket.close(admission.refusal.code, admission.refusal.reason);
    const { caller } = admission;
    if (!mayHaveRight(route, caller, call.pathValues, call.query)) return socket.close(1011, 'Permission denied');
    await converse({ ...call, caller }, socket);
    socket.close();
  } catch (error) {
    call.engine.logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A socket failed');
    socket.close(1011, 'internal error; the server log has the cause');
  }
}
