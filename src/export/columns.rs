//! Parquet without a data-frame library: JSON rows of a known shape, cut into columns with their definition and
//! repetition levels (Dremel). Nothing is merged: a value that the shape does not know is an error, not a null.

use super::folder::Sheet;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use serde_json::Value;
use std::sync::Arc;

/// Rows of one row group.
const GROUP_ROWS: usize = 2_000;
/// Bytes of one row group, roughly: long rows close it earlier.
const GROUP_BYTES: usize = 16 << 20;

/// Shape of a column or a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Shape {
    Text,
    Int,
    Float,
    Bool,
    List(Box<Self>),
    Struct(Vec<(String, Self)>),
}

impl Shape {
    /// A struct from names and shapes.
    pub(crate) fn fields(fields: &[(&str, Self)]) -> Self {
        Self::Struct(
            fields
                .iter()
                .map(|(n, s)| ((*n).to_owned(), s.clone()))
                .collect(),
        )
    }

    /// A list of something.
    pub(crate) fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    /// The one shape that says a value without bending it; nothing where parquet has none: an empty object, a list
    /// of different things, a null.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Bool),
            Value::Number(n) => Some(if n.is_i64() { Self::Int } else { Self::Float }),
            Value::String(_) => Some(Self::Text),
            Value::Array(items) => {
                // An empty list reads back empty, whatever its items would have been.
                let first = items.first().map_or(Some(Self::Text), Self::of)?;
                items
                    .iter()
                    .all(|i| Self::of(i).as_ref() == Some(&first))
                    .then(|| Self::list(first))
            }
            Value::Object(map) if map.is_empty() => None,
            Value::Object(map) => {
                let fields: Option<Vec<(String, Self)>> = map
                    .iter()
                    .map(|(k, v)| Some((k.clone(), Self::of(v)?)))
                    .collect();
                fields.map(Self::Struct)
            }
        }
    }

    fn leaves(&self) -> usize {
        match self {
            Self::Text | Self::Int | Self::Float | Self::Bool => 1,
            Self::List(of) => of.leaves(),
            Self::Struct(fields) => fields.iter().map(|(_, s)| s.leaves()).sum(),
        }
    }

    fn schema(&self, name: &str) -> Result<Arc<Type>, ParquetError> {
        let leaf = |physical| {
            Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL)
        };
        let node = match self {
            Self::Text => leaf(Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String))
                .build()?,
            Self::Int => leaf(Physical::INT64).build()?,
            Self::Float => leaf(Physical::DOUBLE).build()?,
            Self::Bool => leaf(Physical::BOOLEAN).build()?,
            Self::List(of) => {
                let repeated = Type::group_type_builder("list")
                    .with_repetition(Repetition::REPEATED)
                    .with_fields(vec![of.schema("element")?])
                    .build()?;
                Type::group_type_builder(name)
                    .with_repetition(Repetition::OPTIONAL)
                    .with_converted_type(ConvertedType::LIST)
                    .with_logical_type(Some(LogicalType::List))
                    .with_fields(vec![Arc::new(repeated)])
                    .build()?
            }
            Self::Struct(fields) => Type::group_type_builder(name)
                .with_repetition(Repetition::OPTIONAL)
                .with_fields(
                    fields
                        .iter()
                        .map(|(n, s)| s.schema(n))
                        .collect::<Result<_, _>>()?,
                )
                .build()?,
        };
        Ok(Arc::new(node))
    }
}

/// Values of one column with their levels.
#[derive(Debug, Clone)]
enum Values {
    Text(Vec<ByteArray>),
    Int(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
}

#[derive(Debug, Clone)]
struct Leaf {
    values: Values,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

/// A parquet file under way.
pub(crate) struct Table {
    columns: Vec<(String, Shape)>,
    leaves: Vec<Leaf>,
    writer: SerializedFileWriter<Sheet>,
    waiting: usize,
    bytes: usize,
    /// Rows taken so far.
    pub(crate) rows: u64,
}

impl Table {
    /// Starts a file with these columns.
    pub(crate) fn new(sheet: Sheet, columns: Vec<(String, Shape)>) -> Result<Self, ParquetError> {
        let fields = columns
            .iter()
            .map(|(n, s)| s.schema(n))
            .collect::<Result<Vec<_>, _>>()?;
        let root = Type::group_type_builder("schema")
            .with_fields(fields)
            .build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("triagent ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = SerializedFileWriter::new(sheet, Arc::new(root), Arc::new(properties))?;
        let leaves = columns.iter().flat_map(|(_, s)| empty_leaves(s)).collect();
        Ok(Self {
            columns,
            leaves,
            writer,
            waiting: 0,
            bytes: 0,
            rows: 0,
        })
    }

    /// Takes a row; columns that it lacks are null, keys that no column has are left out.
    pub(crate) fn push(&mut self, row: &Value) -> Result<(), ParquetError> {
        let mut at = 0;
        for (name, shape) in &self.columns {
            let value = row.get(name).filter(|v| !v.is_null());
            shred(shape, value, Level::default(), &mut self.leaves, &mut at)?;
        }
        self.rows += 1;
        self.waiting += 1;
        self.bytes += weight(row);
        if self.waiting >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Closes the file and gives its sheet back.
    pub(crate) fn finish(mut self) -> Result<Sheet, ParquetError> {
        self.flush()?;
        self.writer.into_inner()
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.waiting == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        let mut leaves = self.leaves.iter();
        while let Some(mut column) = group.next_column()? {
            let leaf = leaves
                .next()
                .ok_or_else(|| ParquetError::General("more columns than leaves".to_owned()))?;
            write_leaf(&mut column, leaf)?;
            column.close()?;
        }
        group.close()?;
        self.leaves = self
            .columns
            .iter()
            .flat_map(|(_, s)| empty_leaves(s))
            .collect();
        self.waiting = 0;
        self.bytes = 0;
        Ok(())
    }
}

fn write_leaf(column: &mut SerializedColumnWriter<'_>, leaf: &Leaf) -> Result<(), ParquetError> {
    let (definition, repetition) = (
        Some(leaf.definition.as_slice()),
        Some(leaf.repetition.as_slice()),
    );
    match &leaf.values {
        Values::Text(v) => column
            .typed::<ByteArrayType>()
            .write_batch(v, definition, repetition)?,
        Values::Int(v) => column
            .typed::<Int64Type>()
            .write_batch(v, definition, repetition)?,
        Values::Float(v) => column
            .typed::<DoubleType>()
            .write_batch(v, definition, repetition)?,
        Values::Bool(v) => column
            .typed::<BoolType>()
            .write_batch(v, definition, repetition)?,
    };
    Ok(())
}

fn empty_leaves(shape: &Shape) -> Vec<Leaf> {
    let leaf = |values| {
        vec![Leaf {
            values,
            definition: Vec::new(),
            repetition: Vec::new(),
        }]
    };
    match shape {
        Shape::Text => leaf(Values::Text(Vec::new())),
        Shape::Int => leaf(Values::Int(Vec::new())),
        Shape::Float => leaf(Values::Float(Vec::new())),
        Shape::Bool => leaf(Values::Bool(Vec::new())),
        Shape::List(of) => empty_leaves(of),
        Shape::Struct(fields) => fields.iter().flat_map(|(_, s)| empty_leaves(s)).collect(),
    }
}

/// Levels on the way down.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    definition: i16,
    /// Level at which this value repeats.
    repetition: i16,
    /// Lists around it.
    lists: i16,
}

/// Writes one value into its leaves. `at` is the first of them and moves past the last.
fn shred(
    shape: &Shape,
    value: Option<&Value>,
    level: Level,
    leaves: &mut [Leaf],
    at: &mut usize,
) -> Result<(), ParquetError> {
    let Some(value) = value.filter(|v| !v.is_null()) else {
        nulls(shape, level, leaves, at);
        return Ok(());
    };
    let here = Level {
        definition: level.definition + 1,
        ..level
    };
    match shape {
        Shape::Text | Shape::Int | Shape::Float | Shape::Bool => {
            let leaf = leaves.get_mut(*at).ok_or_else(|| misfit(shape, value))?;
            push_value(leaf, shape, value)?;
            leaf.definition.push(here.definition);
            leaf.repetition.push(here.repetition);
            *at += 1;
        }
        Shape::Struct(fields) => {
            let map = value.as_object().ok_or_else(|| misfit(shape, value))?;
            if map.keys().any(|k| fields.iter().all(|(n, _)| n != k)) {
                return Err(misfit(shape, value));
            }
            for (name, field) in fields {
                shred(field, map.get(name), here, leaves, at)?;
            }
        }
        Shape::List(of) => {
            let items = value.as_array().ok_or_else(|| misfit(shape, value))?;
            if items.is_empty() {
                nulls(of, here, leaves, at);
            }
            let first = *at;
            let lists = level.lists + 1;
            for (n, item) in items.iter().enumerate() {
                let repetition = if n == 0 { level.repetition } else { lists };
                let inside = Level {
                    definition: here.definition + 1,
                    repetition,
                    lists,
                };
                *at = first;
                shred(of, Some(item), inside, leaves, at)?;
            }
        }
    }
    Ok(())
}

fn nulls(shape: &Shape, level: Level, leaves: &mut [Leaf], at: &mut usize) {
    let end = *at + shape.leaves();
    for leaf in leaves.get_mut(*at..end).unwrap_or(&mut []) {
        leaf.definition.push(level.definition);
        leaf.repetition.push(level.repetition);
    }
    *at = end;
}

fn push_value(leaf: &mut Leaf, shape: &Shape, value: &Value) -> Result<(), ParquetError> {
    let wrong = || misfit(shape, value);
    match &mut leaf.values {
        Values::Text(list) => list.push(ByteArray::from(value.as_str().ok_or_else(wrong)?)),
        Values::Int(list) => list.push(value.as_i64().ok_or_else(wrong)?),
        Values::Float(list) => list.push(value.as_f64().ok_or_else(wrong)?),
        Values::Bool(list) => list.push(value.as_bool().ok_or_else(wrong)?),
    }
    Ok(())
}

fn misfit(shape: &Shape, value: &Value) -> ParquetError {
    ParquetError::General(format!(
        "a value does not fit its column: {value} is no {shape:?}"
    ))
}

fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 8,
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + 8,
        Value::Object(map) => map.values().map(weight).sum::<usize>() + 8,
    }
}
