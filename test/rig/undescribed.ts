/** Paths of the properties of a JSON Schema that have no description. `skips`: paths of rules, which repeat properties. */
export function undescribed(schema: object, skips?: RegExp): string[] {
  const found: string[] = [];
  const walk = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      const isProperty = path.endsWith('/properties') && !skips?.test(path);
      if (isProperty && typeof (item as { description?: unknown }).description !== 'string')
        found.push(`${path}/${key}`);
      walk(item, `${path}/${key}`);
    }
  };
  walk(schema, '');
  return found;
}
