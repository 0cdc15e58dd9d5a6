import { orThrow } from '../../../../src/client/index.js';
import type { StoredRole } from '../../../../src/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import { facts, tableOf } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { optional } from '../option-values.js';
import { confirm, print, printAnswer } from '../print.js';

const list = command({
  usage: 'role list',
  summary: 'list the roles: named sets of policies for tokens',
  run: async (invocation) => {
    const { value } = await orThrow(invocation.box.roles.list());
    const rows = value.items.map(({ ID, Name, Policies }) => [Name, namesOf(Policies), ID]);
    return print(invocation, value.items, () => tableOf(['Name', 'Policies', 'ID'], rows, 'no roles'));
  },
});

function namesOf(policies: StoredRole['Policies']): string {
  return policies.map(({ Name }) => Name).join(',');
}

function roleText({ ID, Name, Description, Policies }: StoredRole): string {
  return facts({ ID, Name, Description, Policies: namesOf(Policies) });
}

/** The role with this name, else the one with this ID. */
async function roleOf({ box }: Invocation, nameOrId: string): Promise<StoredRole> {
  const named = await box.roles.readNamed(nameOrId);
  if (named.isOk() && named.value.value !== undefined) return named.value.value;
  return existing(box.roles.read(nameOrId), `role ${nameOrId}`);
}

const show = command({
  usage: 'role show ROLE',
  summary: 'show a role, by its name or ID',
  run: async (invocation, role = '') => print(invocation, await roleOf(invocation, role), roleText),
});

const put = command({
  usage: 'role put NAME',
  summary: 'create a role, or change the role with this name',
  options: {
    policy: option.list('POLICY', 'a policy of the role, may be repeated'),
    description: option.text('TEXT', 'description of the role'),
  },
  run: async (invocation, name = '') => {
    const { box, options } = invocation;
    if (options.policy.length === 0) throw new Stopped('a role needs at least one --policy', 2);
    const content = {
      name,
      policies: options.policy.map((policy) => ({ name: policy })),
      ...optional('description', options.description),
    };
    const { value: before } = await orThrow(box.roles.readNamed(name));
    const order = before === undefined ? box.roles.create(content) : box.roles.update(before.ID, content);
    return printAnswer(
      invocation,
      order.map(({ value }) => value),
      roleText,
    );
  },
});

const remove = command({
  usage: 'role delete ROLE',
  summary: 'delete a role, by its name or ID; tokens that name it lose its rights',
  run: async (invocation, role = '') => {
    const { ID, Name } = await roleOf(invocation, role);
    return confirm(invocation, invocation.box.roles.remove(ID), `role ${Name} is deleted`);
  },
});

export const roleCommands: readonly Command[] = [list, show, put, remove];
