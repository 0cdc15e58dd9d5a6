import type { Call } from './call.js';
import type { ErrorTag } from './errors.js';

/** Close code and reason of a socket whose call was refused. */
interface SocketRefusal {
  /** 1008 for errors of the caller, 1011 for missing rights and for failures (job interface, sockets). */
  readonly code: 1008 | 1011;
  readonly reason: string;
}

/** Clients distinguish the two codes, and show the reason. */
export function socketRefusal(
  call: Call,
  error: { readonly type: ErrorTag; readonly message?: string },
): SocketRefusal {
  const failed = ['permission_denied', 'storage_failed', 'unknown_region'].includes(error.type);
  const reason = error.type === 'permission_denied' ? 'Permission denied' : (error.message ?? error.type);
  return { code: call.closeCodes?.[error.type] ?? (failed ? 1011 : 1008), reason };
}
