import { defaultNamespaceName } from './namespaces/namespace.js';

/** Identifies one job. */
export interface JobReference {
  /** `default` when absent. */
  readonly namespace?: string;
  /** The ID of the job, which may contain slashes. */
  readonly jobId: string;
}

export function namespaceOf(reference: { readonly namespace?: string }): string {
  return reference.namespace === undefined || reference.namespace === '' ? defaultNamespaceName : reference.namespace;
}
