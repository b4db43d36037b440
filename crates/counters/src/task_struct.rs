//! The fields of the kernel's `struct task_struct`.

use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::{Btf, HasSize};

use crate::error::CountersError;

/// Where the running kernel has each field of a task.
#[derive(Clone, Debug, Default)]
pub struct TaskStruct {
    /// Size of the struct, bytes.
    pub bytes: u64,
    /// Offset and name of each field, sorted.
    fields: Vec<(u64, String)>,
}

impl TaskStruct {
    /// Reads the kernel's own description of its types (BTF).
    ///
    /// # Errors
    /// It cannot be read.
    pub fn detect() -> Result<TaskStruct, CountersError> {
        TaskStruct::read(&kernel_types()?)
    }

    /// As [`TaskStruct::detect`], from a description that has been read.
    pub(crate) fn read(btf: &Btf<'_>) -> Result<TaskStruct, CountersError> {
        let missing = || CountersError::Kernel("the description of task_struct".to_owned());
        let task: Struct<'_> = btf.type_by_name("task_struct").ok_or_else(missing)?;
        let mut all = TaskStruct { bytes: task.size() as u64, fields: Vec::new() };
        all.add(btf, &task, 0, "");
        all.fields.sort();
        Ok(all)
    }

    /// Adds the fields of a struct, and those of its own structs as `outer.inner`; deeper ones are not told apart.
    fn add(&mut self, btf: &Btf<'_>, composite: &Struct<'_>, base: u64, outer: &str) {
        for member in composite.iter() {
            let (MemberAttr::Normal { offset } | MemberAttr::BitField { offset, .. }) = member.attr;
            let Some(name) = member.name.and_then(|name| name.to_str()) else { continue };
            let at = base + u64::from(offset) / 8;
            self.fields.push((at, format!("{outer}{name}")));
            if outer.is_empty()
                && let Some(inner) = btf.type_by_id::<Struct<'_>>(member.ty)
            {
                self.add(btf, &inner, at, &format!("{name}."));
            }
        }
    }

    /// The field at this offset, bytes; a field of a struct is `outer.inner`.
    pub fn field_at(&self, offset: u64) -> &str {
        let after = self.fields.partition_point(|(at, _)| *at <= offset);
        after.checked_sub(1).map_or("", |last| &self.fields[last].1)
    }
}

/// The kernel's own description of its types.
///
/// # Errors
/// It has none, or it cannot be read.
pub(crate) fn kernel_types() -> Result<Btf<'static>, CountersError> {
    Btf::from_vmlinux()
        .map_err(|error| CountersError::Kernel(format!("the kernel's type information ({error})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_kernel_describes_a_task() {
        let task = match TaskStruct::detect() {
            Ok(task) => task,
            Err(_) if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() => return,
            Err(error) => panic!("{error}"),
        };
        let has = |name: &str| task.fields.iter().any(|(_, field)| field == name);
        assert!(task.bytes > 1_000 && has("se.vruntime") && has("comm"), "{task:?}");
    }

    #[test]
    fn a_field_reaches_to_the_next_one() {
        let fields = vec![
            (0, "thread_info".to_owned()),
            (0, "thread_info.flags".to_owned()),
            (24, "stack".to_owned()),
        ];
        let task = TaskStruct { bytes: 32, fields };
        assert_eq!(
            (task.field_at(8), task.field_at(24), task.field_at(31)),
            ("thread_info.flags", "stack", "stack")
        );
        assert_eq!(TaskStruct::default().field_at(0), "");
    }
}
