import { err, errAsync, ok, okAsync, type Result, type ResultAsync } from 'neverthrow';
import { allowsArea } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { type CommandRefused, callerFailed } from '../../agent/link/node-command.js';
import { type InvalidRequest, invalidRequest } from '../../jobs/errors.js';
import type { StorageError } from '../../ports/storage.js';
import { isUuid } from '../../queries/page.js';
import { nodes } from '../../scheduler/node.js';
import { type EngineContext, ownAddress } from '../context/engine-context.js';
import { type LogEntry, type LogLevel, logLevels } from '../context/log-feed.js';
import type { CallManner } from '../operation.js';
import { whileAllowed } from '../records/while-allowed.js';
import { memberOf } from './describe-agent.js';

export interface MonitorLogInput {
  /** The lowest level: `trace`, `debug`, `info`, `warn` or `error`, case-insensitive; `info` when absent. */
  readonly level?: string;
  /** The server whose log it is; must be this one. */
  readonly serverId?: string;
  /** The node whose log it is. A node that is part of this process shares its log. */
  readonly nodeId?: string;
}

type MonitorError = InvalidRequest | CommandRefused | StorageError;

/** The log entries from now on; `undefined` is a heartbeat. Needs `agent:read`. Ends when the signal aborts or the caller loses the right. */
export function monitorLog(
  context: EngineContext,
  caller: Principal,
  input: MonitorLogInput & Pick<CallManner, 'signal'>,
): ResultAsync<AsyncIterable<LogEntry | undefined>, MonitorError> {
  const { signal } = input;
  const isAllowed = (now: Principal) => allowsArea(now, 'agent', 'read');
  return levelFrom(input.level || 'info')
    .andThen((level) => ownServer(context, input.serverId ?? '').map(() => level))
    .asyncAndThen((level) =>
      whileAllowed(context, { caller, isAllowed, signal }, (until) =>
        knownNode(context, input.nodeId ?? '').map(() => context.feed.entries(level, until)),
      ),
    );
}

function levelFrom(text: string): Result<LogLevel, InvalidRequest> {
  const asked = text.trim().toLowerCase();
  const level = logLevels.find((each) => each === asked);
  return level === undefined ? err(invalidRequest('log_level', `Unknown log level: ${text.slice(0, 64)}`)) : ok(level);
}

function ownServer(context: EngineContext, id: string): Result<void, InvalidRequest> {
  const known = ['', 'leader', memberOf(context).Name, ownAddress(context)];
  return known.includes(id) ? ok(undefined) : err(invalidRequest('server_id', `unknown server ${id.slice(0, 64)}`));
}

function knownNode(context: EngineContext, id: string): ResultAsync<void, CommandRefused | StorageError> {
  if (id === '') return okAsync(undefined);
  if (!isUuid(id)) return errAsync(callerFailed('invalid', 'node lookup failed: a node ID is a UUID of 36 characters'));
  return context.storage
    .read((view) => view.get(nodes, [id.toLowerCase()]) !== undefined)
    .andThen((isKnown): Result<void, CommandRefused> => {
      if (!isKnown) return err(callerFailed('not_found', `Unknown node "${id}"`));
      return context.agents.has(id.toLowerCase()) ? ok(undefined) : err(callerFailed('not_found', 'No path to node'));
    });
}
