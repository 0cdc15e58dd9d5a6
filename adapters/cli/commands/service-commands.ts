import { orThrow } from '../../../src/client/index.js';
import { type Command, command, option } from '../command-line/command.js';
import { short, tableOf } from '../output/tables.js';
import { Stopped } from '../stopped.js';
import { optional } from './option-values.js';
import { confirm, print } from './print.js';

const filter = {
  filter: option.text('EXPRESSION', 'only matching registrations'),
} as const;

const list = command({
  usage: 'service list',
  summary: 'list the services of the built-in catalogue with their tags',
  options: filter,
  run: async (invocation) => {
    const { box, inNamespace, options } = invocation;
    const { value } = await orThrow(box.services.list({ ...inNamespace, ...optional('filter', options.filter) }));
    const rows = value.flatMap(({ Namespace, Services }) =>
      Services.map(({ ServiceName, Tags }) => [Namespace, ServiceName, (Tags ?? []).join(',')]),
    );
    return print(invocation, value, () => tableOf(['Namespace', 'Service', 'Tags'], rows, 'no services'));
  },
});

const info = command({
  usage: 'service info SERVICE',
  summary: 'show the instances of a service with their addresses',
  options: filter,
  run: async (invocation, name = '') => {
    const { box, inNamespace, options } = invocation;
    const wanted = { ...inNamespace, ...optional('filter', options.filter) };
    const {
      value: { items: instances },
    } = await orThrow(box.services.read(name, wanted));
    if (instances.length === 0 && options.filter === undefined) throw new Stopped(`there is no service ${name}`);
    const rows = instances.map(({ JobID, Address, Port, Tags, NodeID, AllocID, ID }) => [
      JobID,
      Port === 0 ? Address : `${Address}:${Port}`,
      Tags.join(','),
      short(NodeID),
      short(AllocID),
      ID,
    ]);
    return print(invocation, instances, () =>
      tableOf(['Job', 'Address', 'Tags', 'Node', 'Allocation', 'ID'], rows, 'none'),
    );
  },
});

const remove = command({
  usage: 'service delete SERVICE ID',
  summary: 'remove one instance of a service from the catalogue',
  run: async (invocation, name = '', id = '') =>
    confirm(invocation, invocation.box.services.remove(name, id, invocation.inNamespace), `${id} is removed`),
});

export const serviceCommands: readonly Command[] = [list, info, remove];
