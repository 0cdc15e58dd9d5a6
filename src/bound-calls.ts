import { errAsync, okAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from './access/principal.js';
import type { CallInput } from './api/answers.js';
import type { Call } from './api/call.js';
import type { ErrorTag } from './api/errors.js';
import { type Api, api } from './api/index.js';
import type { UnknownRegion } from './jobs/errors.js';
import { withOperations } from './load-operations.js';
import type { EngineContext } from './operations/context/engine-context.js';
import { type AnyOperation, type CallManner, operationInput } from './operations/operation.js';
import { callerAfterWaiting } from './operations/records/caller-standing.js';
import { isOfTokenStore } from './operations/records/presented-secret.js';
import { quoted } from './shared/values.js';

/** Identifies a call by its area and its name there. */
export interface CallName {
  /** The member of the client: `jobs`, `nodes`, `notifications`, …. */
  readonly area: string;
  /** The method of that member, such as `register`. */
  readonly method: string;
}

/** Performs one call. */
export type PerformCall = (
  call: CallName,
  caller: Principal,
  input: CallInput,
  manner: CallManner,
) => ResultAsync<unknown, { readonly type: ErrorTag }>;

/** All calls of an engine, for the client in process and the HTTP adapter alike. */
export function boundCalls(context: EngineContext): PerformCall {
  return ({ area, method }, caller, input, manner) => {
    const region = input['region'];
    if (region !== undefined && region !== '' && region !== context.settings.jobs.region) {
      return errAsync(unknownRegion(String(region)));
    }
    const row = (api[area as keyof Api] as Readonly<Record<string, Call>>)[method] as Call;
    return withOperations(({ operations }) => {
      const ofArea = operations[area as keyof Api] as unknown as Readonly<Record<string, AnyOperation>>;
      const operation = ofArea[method] as AnyOperation;
      const answer: Answering = (asCaller, asManner) =>
        operation(context, asCaller, operationInput(row, input, asManner));
      if (manner.waiting.after === undefined) return answer(caller, manner);
      const owned = { ...manner, waiting: { ...manner.waiting, owner: caller.accessor } };
      return isOfTokenStore(caller) ? afterWaiting(context, caller, owned, answer) : answer(caller, owned);
    });
  };
}

type Answering = (caller: Principal, manner: CallManner) => ReturnType<AnyOperation>;

/** Repeats a read with the caller's current rights when they changed while it waited. */
function afterWaiting(
  context: EngineContext,
  caller: Principal,
  manner: CallManner,
  answer: Answering,
): ReturnType<AnyOperation> {
  let isChanged = false;
  const whenRightsChanged = (): void => {
    isChanged = true;
  };
  return answer(caller, { ...manner, waiting: { ...manner.waiting, whenRightsChanged } }).andThen((answered) => {
    if (!isChanged) return okAsync(answered);
    return callerAfterWaiting(context, caller).andThen(
      (found): ReturnType<AnyOperation> =>
        found === undefined ? errAsync({ type: 'permission_denied' }) : answer(found, { ...manner, waiting: {} }),
    );
  });
}

/** There is one region. Clients match the beginning of the message. */
function unknownRegion(region: string): UnknownRegion {
  return {
    type: 'unknown_region',
    region,
    message: `No path to region: this server does not know ${quoted(region)}`,
  };
}
