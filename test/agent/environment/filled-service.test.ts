import { expect, it } from 'vitest';
import { filledService } from '../../../src/agent/environment/filled-service.js';
import type { Service } from '../../../src/jobs/document/service.js';
import { canonicalJob } from '../../jobs/canonical-job.js';

function serviceOf(input: object): Service {
  const job = canonicalJob({
    ID: 'j',
    TaskGroups: [{ Name: 'g', Services: [input], Tasks: [{ Name: 't', Driver: 'exec' }] }],
  });
  return job.TaskGroups[0]?.Services?.[0] as Service;
}

const lookup = (name: string): string | undefined => (name === 'x' ? 'filled' : undefined);
const written = `\${x}`;

it('fills the texts of a service and of its checks, and writes the types of checks small', () => {
  const check = {
    Name: written,
    Type: 'HTTP',
    Path: `/${written}`,
    Method: written,
    Body: written,
    Header: { A: [written, 'b'] },
    Command: written,
    Args: [written],
    PortLabel: written,
    Protocol: written,
    TLSServerName: written,
  };
  const service = { Name: written, PortLabel: written, Address: written, Tags: [written], CanaryTags: [written] };
  expect(filledService(serviceOf({ ...service, Checks: [check] }), lookup)).toMatchObject({
    Name: 'filled',
    PortLabel: 'filled',
    Address: 'filled',
    Tags: ['filled'],
    CanaryTags: ['filled'],
    Checks: [
      {
        Name: 'filled',
        Type: 'http',
        Path: '/filled',
        Method: 'filled',
        Body: 'filled',
        Header: { A: ['filled', 'b'] },
        Command: 'filled',
        Args: ['filled'],
        PortLabel: 'filled',
        Protocol: 'filled',
        TLSServerName: 'filled',
      },
    ],
  });
});

it('leaves what is not known, and lists that are not there', () => {
  const service = serviceOf({ Name: `a-\${y}`, Checks: [{ Type: 'tcp' }] });
  expect(filledService(service, lookup)).toEqual(service);
});
