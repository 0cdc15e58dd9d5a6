import type { ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { tokens } from '../../../access/tokens.js';
import type { StorageError } from '../../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../../authorise.js';
import type { EngineContext } from '../../context/engine-context.js';
import { type TokenInfo, tokenInfo } from './put-token.js';

/** All tokens in order of accessors, without secrets. Only management callers may do this. */
export function listTokens(
  context: EngineContext,
  caller: Principal,
): ResultAsync<readonly TokenInfo[], PermissionDenied | StorageError> {
  return authoriseManagement(caller).asyncAndThen(() =>
    context.storage.read((view) => view.list(tokens).map((row) => tokenInfo(row.record))),
  );
}
