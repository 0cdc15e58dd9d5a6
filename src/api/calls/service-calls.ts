import type { ServiceNamespaceStub, ServiceRegistration } from '../../services/service-registration.js';
import { inNamespace, inNamespaceOf } from '../access.js';
import { type AnswerForm, done, found, type Indexed, list, listSchema, page } from '../answers.js';
import { read, readServer, write } from '../call.js';
import { filterFaults, pageInputs } from '../common-inputs.js';
import { inPath, inQuery } from '../inputs.js';
import { text } from '../text-codecs.js';

const filter = inQuery('filter', text, 'A filter expression over the registrations');

/** The built-in service catalogue: services and the addresses of their instances. */
export const serviceCalls = {
  /** The services of a namespace, or of all (`*`). */
  list: read({
    path: '/v1/services',
    access: inNamespace('read-job'),
    summary: 'The services of a namespace, or of all (`*`), with their tags',
    inputs: { filter },
    errors: filterFaults,
    answer: list<ServiceNamespaceStub>('ServiceNamespaceStub'),
  }),

  /** A page of the instances of a service, by ID. */
  read: read({
    path: '/v1/service/{service_name}',
    access: inNamespace('read-job'),
    summary: 'A page of the instances of a service, by ID',
    args: ['name'],
    inputs: {
      name: inPath('service_name', text),
      filter,
      choose: inQuery(
        'choose',
        text,
        '`<number>|<key>`: returns this number of instances of the page, the same ones for the same key',
      ),
      perPage: pageInputs.perPage,
      nextToken: pageInputs.nextToken,
    },
    errors: ['invalid_request', ...filterFaults],
    answer: page<ServiceRegistration>('ServiceRegistration'),
  }),

  /** Removes one instance of a service from the catalogue. */
  remove: write({
    path: '/v1/service/{service_name}/{service_id}',
    methods: ['DELETE'],
    access: inNamespace('submit-job', 'delete-service-registration'),
    summary: 'Removes one instance of a service from the catalogue',
    args: ['name', 'id'],
    inputs: { name: inPath('service_name', text), id: inPath('service_id', text) },
    errors: ['invalid_request'],
    answer: done(),
  }),
} as const;

type Instances = readonly ServiceRegistration[] | undefined;

/** The service instances of a job or an allocation, or 404 if it does not exist. */
const instances: AnswerForm<Indexed<Instances>, Indexed<Instances>> = {
  ...found<Instances>('ServiceRegistration'),
  schema: listSchema('ServiceRegistration'),
};

export const jobServiceCalls = {
  /** The instances of services that a job offers. */
  services: read({
    path: '/v1/job/{job_id}/services',
    alias: '/job/{job_id}/services',
    access: inNamespace('read-job'),
    summary: 'The instances of services that a job offers',
    args: ['jobId'],
    inputs: { jobId: inPath('job_id', text) },
    answer: instances,
    absent: 'job not found',
  }),
} as const;

export const allocationServiceCalls = {
  /** The instances of services that an allocation offers. */
  services: readServer({
    path: '/v1/allocation/{allocation_id}/services',
    access: inNamespaceOf('record', 'read-job'),
    summary: 'The instances of services that an allocation offers',
    args: ['allocationId'],
    inputs: { allocationId: inPath('allocation_id', text) },
    errors: ['invalid_request'],
    answer: instances,
    absent: 'allocation not found',
  }),
} as const;
