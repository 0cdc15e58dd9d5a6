import type { namespaceCalls } from '../../api/calls/namespace-calls.js';
import type { NamespaceCapabilities } from '../../jobs/namespaces/namespace.js';
import type { Bindings } from '../binding.js';
import { type NamespaceInput, writeNamespace } from './put-namespace.js';
import { listNamespaces, readNamespace } from './read-namespaces.js';
import { removeNamespace } from './remove-namespace.js';

/** The operations of the calls of namespaces. */
export const namespaceBindings: Bindings<typeof namespaceCalls> = {
  list: (context, caller, input, { waiting }) => listNamespaces(context, caller, { ...input, waiting }),
  read: (context, caller, input, { waiting }) => readNamespace(context, caller, { ...input, waiting }),
  put: (context, caller, input) => writeNamespace(context, caller, content(input)),
  putNamed: (context, caller, input) => writeNamespace(context, caller, content(input)),
  remove: removeNamespace,
};

interface Given extends Pick<NamespaceInput, 'name' | 'description' | 'meta'> {
  readonly capabilities?: Partial<NamespaceCapabilities>;
}

/** An omitted list allows everything. */
function content({ name, description, meta, capabilities }: Given): NamespaceInput {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(meta === undefined ? {} : { meta }),
    capabilities:
      capabilities === undefined
        ? null
        : {
            EnabledTaskDrivers: null,
            DisabledTaskDrivers: null,
            EnabledNetworkModes: null,
            DisabledNetworkModes: null,
            ...capabilities,
          },
  };
}
