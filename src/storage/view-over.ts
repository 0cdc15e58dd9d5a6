import type { ListQuery, Row, TableName, WriteView } from '../ports/storage.js';
import type { Key, Table } from '../shared/table.js';

/** The view of a write, for views that add something to it. */
export class ViewOver implements WriteView {
  constructor(protected readonly view: WriteView) {}

  get index(): number {
    return this.view.index;
  }

  nextIndex(): number {
    return this.view.nextIndex();
  }

  get<R>(table: Table<R>, key: Key): Row<R> | undefined {
    return this.view.get(table, key);
  }

  list<R>(table: Table<R>, query?: ListQuery): Row<R>[] {
    return this.view.list(table, query);
  }

  tableIndex(table: TableName): number {
    return this.view.tableIndex(table);
  }

  put<R>(table: Table<R>, record: R): void {
    this.view.put(table, record);
  }

  remove<R>(table: Table<R>, key: Key): boolean {
    return this.view.remove(table, key);
  }
}
