import { describe, expect, it } from 'vitest';
import type { JobInput } from '../../src/jobs/document/submitted-job.js';
import type { Allocation } from '../../src/scheduler/allocation.js';
import { registrationsOf, type Serving } from '../../src/services/registrations-of.js';
import { canonicalJob } from '../jobs/canonical-job.js';
import { nodeFrom } from '../support/nodes.js';

type GroupInput = NonNullable<JobInput['TaskGroups']>[number];

function serving(part: GroupInput, change: Partial<Allocation> = {}): Serving {
  const job = canonicalJob({
    ID: 'shop',
    Meta: { tier: 'gold' },
    TaskGroups: [{ Name: 'web', Tasks: [{ Name: 'serve', Driver: 'exec', Env: { COLOUR: 'blue' } }], ...part }],
  });
  const allocation = {
    ID: 'a1',
    Namespace: 'default',
    JobID: 'shop',
    TaskGroup: 'web',
    Name: 'shop.web[3]',
    DesiredStatus: 'run',
    ClientStatus: 'running',
    TaskStates: { serve: { State: 'running' } },
    AllocatedResources: {
      Tasks: {},
      Shared: { Networks: null, DiskMB: 0, Ports: [{ Label: 'http', Value: 20_100, To: 80, HostIP: '10.0.0.1' }] },
    },
    ...change,
  } as unknown as Allocation;
  const node = nodeFrom('n1', { Name: 'one', Datacenter: 'east', Attributes: { arch: 'amd64' }, Meta: { rack: 'r1' } });
  return { allocation, job, group: job.TaskGroups[0] as Serving['group'], node };
}

describe('what an allocation offers', () => {
  it('are the services of its group and of the tasks that run', () => {
    const Tasks = [
      { Name: 'serve', Driver: 'exec', Services: [{ Name: 'own', PortLabel: 'http' }] },
      { Name: 'late', Driver: 'exec', Services: [{ Name: 'late' }] },
    ];
    const offered = registrationsOf(serving({ Services: [{ Name: 'web', PortLabel: 'http', Tags: ['a'] }], Tasks }));
    expect(offered).toMatchObject({
      ofGroup: [
        { ID: '_nomad-task-a1-group-web-web-http', ServiceName: 'web', Tags: ['a'], Address: '10.0.0.1', Port: 20_100 },
      ],
      ofTasks: [{ ID: '_nomad-task-a1-serve-own-http', ServiceName: 'own', Tags: [] }],
    });
  });

  it('is nothing before it runs and when it is to end', () => {
    const Services = [{ Name: 'web' }];
    const nothing = { ofGroup: [], ofTasks: [] };
    expect(registrationsOf(serving({ Services }, { ClientStatus: 'pending' }))).toEqual(nothing);
    expect(registrationsOf(serving({ Services }, { DesiredStatus: 'stop' }))).toEqual(nothing);
  });

  it('has the tags of a canary while it is one', () => {
    const Services = [{ Name: 'web', Tags: ['live'], CanaryTags: ['canary'] }];
    const tags = (Canary: boolean) =>
      registrationsOf(serving({ Services }, { DeploymentStatus: { Canary } } as Partial<Allocation>)).ofGroup[0]?.Tags;
    expect([tags(true), tags(false)]).toEqual([['canary'], ['live']]);
  });

  it('has the references of its texts filled in, in a group without what belongs to a task', () => {
    const name = `web-\${NOMAD_ALLOC_INDEX}`;
    const Tags = [`\${node.datacenter}`, `\${NOMAD_META_tier}`, `\${NOMAD_PORT_http}`, `\${COLOUR}`, `\${attr.none}`];
    const Services = [{ Name: name, Tags, Address: `\${meta.rack}.example` }];
    const Tasks = [{ Name: 'serve', Driver: 'exec', Env: { COLOUR: 'blue' }, Services: [{ Name: 'own', Tags }] }];
    const { ofGroup, ofTasks } = registrationsOf(serving({ Services, Tasks }));
    expect([...ofGroup, ...ofTasks]).toMatchObject([
      {
        ID: '_nomad-task-a1-group-web-web-3-',
        ServiceName: 'web-3',
        Tags: ['east', 'gold', '80', `\${COLOUR}`, `\${attr.none}`],
        Address: 'r1.example',
      },
      { ServiceName: 'own', Tags: ['east', 'gold', '80', 'blue', `\${attr.none}`] },
    ]);
  });
});
