import type { Principal } from '../../access/principal.js';
import { defaultNamespaceName } from '../../jobs/namespace.js';
import type { ConsequenceEnvironment } from '../shared/consequence-environment.js';
import type { EngineContext } from '../shared/context.js';

/** Names one job. */
export interface JobReference {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly jobId: string;
}

export function namespaceOf(reference: { readonly namespace?: string }): string {
  return reference.namespace === undefined || reference.namespace === '' ? defaultNamespaceName : reference.namespace;
}

/** What a write by this caller is decided with. */
export function environmentOf(context: EngineContext, caller: Principal): ConsequenceEnvironment {
  const { clock, ids, settings } = context;
  const environment = { now: clock.now(), ids, settings };
  return caller.name === '' ? environment : { ...environment, actor: caller.name };
}
