import { orThrow } from '../../../src/client/index.js';
import { type Command, command } from '../command-line/command.js';
import { facts, tableOf } from '../output/columns.js';
import { optional } from './option-values.js';
import { confirm, print } from './print.js';

const list = command({
  words: 'workspace list',
  parameters: 'ORGANIZATION',
  summary: 'the workspaces of an organization',
  options: {},
  run: async (invocation) => {
    const { items } = await orThrow(invocation.box.workspaces.list(invocation.parameters[0] ?? ''));
    const rows = items.map(({ id, name, executionMode }) => [id, name, executionMode]);
    return print(invocation, items, () => tableOf(['ID', 'Name', 'Execution mode'], rows, 'no workspaces'));
  },
});

const show = command({
  words: 'workspace show',
  parameters: 'WORKSPACE',
  summary: 'one workspace',
  options: {},
  run: async (invocation) => {
    const workspace = await orThrow(invocation.box.workspaces.show(invocation.parameters[0] ?? ''));
    return print(invocation, workspace, ({ id, name, organization, executionMode }) =>
      facts({ ID: id, Name: name, Organization: organization, 'Execution mode': executionMode }),
    );
  },
});

const put = command({
  words: 'workspace put',
  parameters: 'WORKSPACE',
  summary: 'create or change a workspace, which notifications belong to',
  options: {
    name: { type: 'text', value: 'NAME', summary: 'its name (its ID)' },
    organization: { type: 'text', value: 'NAME', summary: 'its organization (default)' },
    url: { type: 'text', value: 'URL', summary: 'where people look at it, for links' },
  },
  run: async (invocation) => {
    const { parameters, options, box } = invocation;
    const [id = ''] = parameters;
    const { name = id, organization = 'default', url } = options;
    const stored = await orThrow(box.workspaces.put(id, { name, organization, ...optional('url', url) }));
    return print(invocation, stored, () => `workspace ${id} is stored\n`);
  },
});

const remove = command({
  words: 'workspace delete',
  parameters: 'WORKSPACE',
  summary: 'remove a workspace with its notification configurations',
  options: {},
  run: (invocation) => {
    const [id = ''] = invocation.parameters;
    return confirm(invocation, invocation.box.workspaces.remove(id), `workspace ${id} is removed`);
  },
});

const putUser = command({
  words: 'user put',
  parameters: 'USER EMAIL',
  summary: 'create or change a user, whom e-mail configurations name',
  options: {
    username: { type: 'text', value: 'NAME', summary: 'the name of the user (its ID)' },
    organization: { type: 'text', value: 'NAME', summary: 'the organization of the user (default)' },
  },
  run: async (invocation) => {
    const [id = '', email = ''] = invocation.parameters;
    const { username = id, organization = 'default' } = invocation.options;
    const stored = await orThrow(invocation.box.users.put(id, { username, email, organization }));
    return print(invocation, stored, () => `user ${id} is stored\n`);
  },
});

const removeUser = command({
  words: 'user delete',
  parameters: 'USER',
  summary: 'remove a user; configurations keep their other users',
  options: {},
  run: (invocation) => {
    const [id = ''] = invocation.parameters;
    return confirm(invocation, invocation.box.users.remove(id), `user ${id} is removed`);
  },
});

/** Workspaces and users: whom events belong to and whom mail goes to. */
export const directoryCommands: readonly Command[] = [list, show, put, remove, putUser, removeUser];
