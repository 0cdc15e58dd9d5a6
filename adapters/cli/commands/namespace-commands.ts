import { orThrow } from '../../../src/client/index.js';
import { type Command, command, option } from '../command-line/command.js';
import { facts, tableOf } from '../output/tables.js';
import { existing } from './find-record.js';
import { optional, pairs } from './option-values.js';
import { confirm, print } from './print.js';

const list = command({
  usage: 'namespace list',
  summary: 'list the namespaces',
  run: async (invocation) => {
    const { value } = await orThrow(invocation.box.namespaces.list());
    const rows = value.map(({ Name, Description }) => [Name, Description]);
    return print(invocation, value, () => tableOf(['Name', 'Description'], rows, 'no namespaces'));
  },
});

const status = command({
  usage: 'namespace status NAMESPACE',
  summary: 'show a namespace',
  run: async (invocation, name = '') => {
    const namespace = await existing(invocation.box.namespaces.read(name), `namespace ${name}`);
    return print(invocation, namespace, ({ Name, Description, Meta }) => facts({ Name, Description, ...Meta }));
  },
});

const apply = command({
  usage: 'namespace apply NAMESPACE',
  summary: 'create or change a namespace',
  options: {
    description: option.text('TEXT', 'description of the namespace'),
    meta: option.list('KEY=VALUE', 'a meta value, may be repeated'),
  },
  run: (invocation, name = '') => {
    const { options, box } = invocation;
    const meta = options.meta.length === 0 ? undefined : pairs('meta', options.meta);
    const settings = { ...optional('description', options.description), ...optional('meta', meta) };
    return confirm(invocation, box.namespaces.put(name, settings), `namespace ${name} is stored`);
  },
});

const remove = command({
  usage: 'namespace delete NAMESPACE',
  summary: 'delete an empty namespace',
  run: (invocation, name = '') =>
    confirm(invocation, invocation.box.namespaces.remove(name), `namespace ${name} is deleted`),
});

export const namespaceCommands: readonly Command[] = [list, status, apply, remove];
