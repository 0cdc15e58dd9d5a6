import type { FileDescription } from '../../../../src/agent/link/node-command.js';
import { orThrow } from '../../../../src/client/index.js';
import { type Command, command, option } from '../../command-line/command.js';
import { facts, tableOf } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { passOn, print } from '../print.js';
import { allocationOrThatOfJob, allocationToRead, ofJobOption } from './allocation-commands.js';

const files = command({
  usage: 'alloc fs ALLOCATION [PATH]',
  summary: "what lies in a folder of an allocation, or a file's content",
  options: {
    ...ofJobOption,
    stat: option.flag('show size, mode and modification time of a file or folder'),
  },
  run: async (invocation, prefix = '', path = '/') => {
    const { box, json, options, terminal } = invocation;
    const { ID } = await allocationOrThatOfJob(invocation, prefix, allocationToRead);
    const described = await orThrow(box.files.stat(ID, { path }));
    if (options.stat) return print(invocation, described, factsText);
    if (described.IsDir) return print(invocation, await orThrow(box.files.list(ID, { path })), listText);
    if (json) throw new Stopped(`${path} is a file: --json is for folders and for --stat`, 2);
    return passOn(terminal, box.files.read(ID, { path }));
  },
});

function factsText({ Name, FileMode, Size, ModTime }: FileDescription): string {
  return facts({ Name, Mode: FileMode, Bytes: Size, Modified: ModTime });
}

function listText(entries: readonly FileDescription[]): string {
  const rows = entries.map(({ Name, IsDir, FileMode, Size, ModTime }) => [
    FileMode,
    String(Size),
    ModTime,
    IsDir ? `${Name}/` : Name,
  ]);
  return tableOf(['Mode', 'Bytes', 'Modified', 'Name'], rows, 'the folder is empty');
}

export const fileCommands: readonly Command[] = [files];
