import type { ReadView, Storage } from '../../src/ports/storage.js';
import type { TableName } from '../../src/shared/table.js';

/** The storage; records the number of rows that each list of a table returns. */
export function countedLists(storage: Storage, { name }: TableName, counts: number[]): Storage {
  const over = <V extends ReadView>(view: V): V =>
    new Proxy(view, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(value, target, args);
          if (member === 'list' && (args[0] as TableName).name === name) counts.push((answer as unknown[]).length);
          return answer;
        };
      },
    });
  return {
    read: (work) => storage.read((view) => work(over(view))),
    write: (work) => storage.write((view) => work(over(view))),
    waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
    close: () => storage.close(),
  };
}
