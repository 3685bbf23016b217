-- The tables of a store of results; `mltsk.paper.experiments.store` fills and reads them.
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY CHECK (id = 1), description TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS cell (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, protocol TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL,
    seed INTEGER NOT NULL, fold INTEGER NOT NULL, "inner" INTEGER NOT NULL, part TEXT NOT NULL, status TEXT NOT NULL,
    error TEXT NOT NULL, seconds REAL NOT NULL, cpu_seconds REAL NOT NULL, "when" TEXT NOT NULL, details TEXT NOT NULL,
    versions TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS setting (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE IF NOT EXISTS score (
    cell TEXT NOT NULL REFERENCES cell (key) ON DELETE CASCADE, setting INTEGER NOT NULL REFERENCES setting (id),
    chosen_by TEXT NOT NULL, AP REAL, HL REAL, OE REAL, RL REAL, CV REAL, tied REAL,
    PRIMARY KEY (cell, chosen_by, setting)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS study (
    cell TEXT PRIMARY KEY REFERENCES cell (key) ON DELETE CASCADE, content TEXT NOT NULL
) STRICT;
