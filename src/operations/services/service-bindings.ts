import type { allocationServiceCalls, jobServiceCalls, serviceCalls } from '../../api/calls/service-calls.js';
import type { Bindings } from '../binding.js';
import { listAllocationServices, listJobServices, listServices, readService, removeService } from './read-services.js';

/** The operations of the service catalogue. */
export const serviceBindings: Bindings<typeof serviceCalls> = {
  list: (context, caller, input, { waiting }) => listServices(context, caller, input, waiting),
  read: (context, caller, input, { waiting }) => readService(context, caller, input, waiting),
  remove: (context, caller, input) => removeService(context, caller, input),
};

export const jobServiceBindings: Bindings<typeof jobServiceCalls> = {
  services: (context, caller, { id, ...input }, { waiting }) =>
    listJobServices(context, caller, { ...input, jobId: id }, waiting),
};

export const allocationServiceBindings: Bindings<typeof allocationServiceCalls> = {
  services: (context, caller, { id }, { waiting }) =>
    listAllocationServices(context, caller, { allocationId: id }, waiting),
};
